"""Checks the documentation.

Links lead somewhere, files and tests that pages name exist, the site has every page, and the tables of the
benchmarks and of the paper's page follow from the results.

    python3 tools/check_docs.py     # exit code 1 and a line for each problem

Standard library only.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")


def main():
    pages = [ROOT / name for name in tracked("*.md") if (ROOT / name).exists()]
    problems = [problem for page in pages for problem in dead_links(page)]
    problems += [problem for page in pages for problem in missing_files(page)]
    problems += [*missing_tests(), *summary_problems()]
    for problem in problems:
        print(problem, file=sys.stderr)
    scripts = ("experiments/benchmarks.py", "experiments/paper/tables.py")
    stale = [subprocess.run([sys.executable, ROOT / script, "--check"]).returncode for script in scripts]
    sys.exit(1 if problems or any(stale) else 0)


def tracked(*patterns):
    """Files of the repository, new ones included, without what git ignores."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    return sorted(
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    )


def prose(text):
    """The text without code, in which brackets are no links. Lines keep their numbers."""
    blocks = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
    text = blocks.sub(lambda block: "\n" * block[0].count("\n"), text)
    return re.sub(r"`[^`\n]*`", "code", text)


def dead_links(page):
    text = prose(page.read_text(encoding="utf-8"))
    for match in LINK.finditer(text):
        link = match[1]
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        where = f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"
        if not target.exists():
            yield f"{where}: the link `{link}` leads to no file"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"{where}: the link `{link}` leads to no heading"


def missing_files(page):
    """Paths in code style, such as `docs/model-file.md`, that begin with a folder of ours."""
    # Notes of a day and results are not updated when files move.
    if page.is_relative_to(ROOT / "docs/lab-notes") or page.is_relative_to(ROOT / "experiments/results"):
        return
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        for path in re.findall(r"`((?:bindings|crates|docs|experiments|tools)/[\w./-]*\w)`", line):
            if not (ROOT / path).exists() and not ignored(path):
                yield f"{page.relative_to(ROOT)}:{number}: there is no file `{path}`"


def ignored(path):
    return subprocess.run(["git", "check-ignore", "--quiet", path, path + "/"], cwd=ROOT).returncode == 0


def missing_tests():
    """What docs/paper-to-code.md says is checked by a test: there is a function of that name."""
    page = ROOT / "docs/paper-to-code.md"
    code = "".join((ROOT / name).read_text(encoding="utf-8") for name in tracked("crates/*.rs"))
    rows = [line.split("|")[1:-1] for line in page.read_text(encoding="utf-8").splitlines()]
    for checked_by in (cells[2] for cells in rows if len(cells) == 3):
        for name in re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+)+)`", checked_by):
            if f"fn {name}(" not in code:
                yield f"docs/paper-to-code.md: there is no function `{name}`"


def anchors(page):
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def summary_problems():
    """Every page below docs/ stands in the site's table of contents exactly once."""
    folder = ROOT / "docs"
    listed = LINK.findall((folder / "SUMMARY.md").read_text(encoding="utf-8"))
    pages = {str(page.relative_to(folder)) for page in folder.rglob("*.md")} - {"SUMMARY.md"}
    for name in sorted(pages - set(listed)):
        yield f"docs/SUMMARY.md: `{name}` is missing"
    for name in sorted({name for name in listed if listed.count(name) > 1}):
        yield f"docs/SUMMARY.md: `{name}` stands there twice"


if __name__ == "__main__":
    main()
