"""Prepares the documentation for mdBook, and checks what mdBook made of it.

    python3 tools/site.py FOLDER            # writes book.toml and pages/ there
    python3 tools/site.py --check SITE      # exit code 1 and a line for each dead link in the finished site

Pages keep their paths in the repository, so that links between docs/, the README and other pages work on the
site as they do in a checkout. A link to a file that is no page, such as source code, becomes plain text.
Standard library only.
"""

import posixpath
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from check_docs import LINK, ROOT, tracked


def main():
    if sys.argv[1] == "--check":
        check(Path(sys.argv[2]))
    else:
        prepare(Path(sys.argv[1]))


def prepare(folder):
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    contents = (ROOT / "docs/SUMMARY.md").read_text(encoding="utf-8")
    names = {posixpath.normpath(f"docs/{link}") for link in LINK.findall(contents)}
    for name in names:
        text = (ROOT / name).read_text(encoding="utf-8")
        write(pages / page_name(name), LINK.sub(lambda link, name=name: site_link(link, name, names), text))
    for name in tracked("docs/figures/*"):
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, pages / name)
    write(
        pages / "SUMMARY.md",
        LINK.sub(lambda link: aim(link, posixpath.normpath(f"docs/{link[1]}")), contents),
    )
    shutil.copy(ROOT / "docs/book.toml", folder / "book.toml")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def page_name(name):
    """mdBook makes index.html of a README, but leaves links to it as they are."""
    return re.sub(r"\bREADME\.md\b", "index.md", name)


def aim(link, target):
    """The same link with another target."""
    return link[0].removesuffix(f"({link[1]})") + f"({page_name(target)})"


def site_link(link, page, names):
    """The link as it is if it leads to a page, a figure or another site; otherwise its text alone."""
    target = link[1].partition("#")[0]
    if re.match(r"[a-z]+:", link[1]) or not target:
        return link[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
    if path in names or path.startswith("docs/figures/"):
        return aim(link, link[1])
    return re.sub(r"^!?\[(.*)\]\([^()]*\)$", r"\1", link[0], flags=re.DOTALL)


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.ids = [], set()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if value and (name == "href" or (name == "src" and tag in ("img", "script"))):
                self.links.append(value)
            elif name == "id":
                self.ids.add(value)


def check(site):
    pages = {}
    for path in site.rglob("*.html"):
        pages[path.resolve()] = Links()
        pages[path.resolve()].feed(path.read_text(encoding="utf-8"))
    dead = [
        f"{path.relative_to(site.resolve())}: {link}"
        for path, page in pages.items()
        if path.name not in ("print.html", "404.html", "toc.html")
        for link in page.links
        if is_dead(path, link, pages)
    ]
    for line in dead:
        print(f"dead link in {line}", file=sys.stderr)
    if dead or not pages:
        sys.exit(1)
    print(f"{len(pages)} pages, no dead link: {site / 'index.html'}")


def is_dead(path, link, pages):
    if re.match(r"[a-z]+:|//", link):
        return False
    target, _, anchor = unquote(link).partition("#")
    file = (path.parent / target).resolve() if target else path
    if file.is_dir():
        file = file / "index.html"
    return not file.exists() or bool(anchor and file in pages and anchor not in pages[file].ids)


if __name__ == "__main__":
    main()
