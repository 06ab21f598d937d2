"""Doors for programs that were written for other packages."""
