"""Vowpal Wabbit:  run_vowpalwabbit.py OPTIONS…  with the options of its program `vw`, which the package
does not bring."""

import shlex
import sys

import vowpalwabbit

vowpalwabbit.Workspace(shlex.join(sys.argv[1:])).finish()
