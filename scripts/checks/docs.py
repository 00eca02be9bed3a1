#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What the documents say of the tree is so. docs.py ROOT: links, paths, commands' options and code samples of docs/ and of
the other documents. --rows prints the table of orders; --site FOLDER checks every link of the built site."""
import html.parser
import pathlib
import re
import sys

TOP = {"include", "src", "scripts", "examples", "property_tests", "model_checks", "bench", "data", "cmake", "docs", "packaging"}
ROW = re.compile(r'X\((\w+),[\s\\]*(\w+),[\s\\]*"([^"]*)",[\s\\]*((?:"[^"]*"[\s\\]*)+),[\s\\]*((?:"[^"]*"[\s\\]*)+)\)')


def joined(text):
    return "".join(re.findall(r'"([^"]*)"', text))


def rows(root):
    text = (root / "include/cmdq/platform/orderings.hpp").read_text()
    return [(site, order, partner, joined(why), joined(without)) for site, order, partner, why, without in ROW.findall(text)]


def documents(root):
    yield from sorted((root / "docs").glob("*.md"))
    for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "examples/own_strategy/README.md"):
        yield root / name


def check(root):
    wrong = []
    table = {row[0] for row in rows(root)}
    sources = {}
    for path in documents(root):
        text = path.read_text()
        where = path.relative_to(root).as_posix()
        for link in re.findall(r"\]\(([^)#]+)(?:#[\w-]*)?\)", text):
            if not re.match(r"https?:|api/", link) and not (path.parent / link).exists():
                wrong.append(f"{where}: link to {link}: no such file")
        for name in re.findall(r"(?<![\w/.-])((?:%s)/[\w./-]*[\w-])" % "|".join(sorted(TOP)), text):
            if "..." not in name and not (root / name).exists():
                wrong.append(f"{where}: {name} does not exist")
        for source, sample in re.findall(r"<!-- code: (\S+) -->\n```\w*\n(.*?)```", text, re.S):
            code = sources.setdefault(source, (root / source).read_text())
            if sample.strip("\n") not in code:
                wrong.append(f"{where}: a sample is not, word for word, a part of {source}")
        for block in re.findall(r"```cpp\n", text):
            if text.count("```cpp") + text.count("```c\n") != len(re.findall(r"<!-- code: \S+ -->\n```c", text)):
                wrong.append(f"{where}: a sample does not say of which file it is a part")
                break
    for name in re.findall(r"\b((?:valid|told|cons|group|mailbox|placed|combiner|left|park|wake)_\w+)",
                           (root / "docs/memory_model.md").read_text()):
        if name not in table:
            wrong.append(f"docs/memory_model.md: {name} is no row of orderings.hpp")
    said = (root / "mkdocs.yml").read_text()
    for page in sorted(p.name for p in (root / "docs").glob("*.md")):
        if f": {page}" not in said:
            wrong.append(f"mkdocs.yml does not list {page}")
    return wrong


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.anchors.update(v for k, v in a.items() if k in ("id", "name") and v)
        for key in ("href", "src"):
            if a.get(key):
                self.links.append(a[key])


def check_site(site):
    pages = {p: Page(p.read_text(errors="replace")) for p in site.rglob("*.html")}
    wrong, links = [], 0
    for path, page in pages.items():
        if "api" in path.relative_to(site).parts or path.name == "404.html":
            continue
        for link in page.links:
            if re.match(r"[a-z]+:|//", link):
                continue
            links += 1
            target, _, anchor = link.partition("#")
            file = (path.parent / target).resolve() if target else path.resolve()
            if file.is_dir():
                file /= "index.html"
            if not file.exists():
                wrong.append(f"{path.relative_to(site)}: {link}: no such file")
            elif anchor and file.suffix == ".html" and not anchor.startswith("__") and \
                    anchor not in pages.get(path.parent / target if target else path, Page(file.read_text(errors="replace"))).anchors:
                wrong.append(f"{path.relative_to(site)}: {link}: no such place")
    return wrong, links


def main():
    root = pathlib.Path(sys.argv[1])
    if "--rows" in sys.argv:
        print("| site | order | partner | why | without |\n| --- | --- | --- | --- | --- |")
        for row in rows(root):
            print("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
        return
    if "--site" in sys.argv:
        wrong, links = check_site(pathlib.Path(sys.argv[sys.argv.index("--site") + 1]).resolve())
        print("\n".join(wrong) if wrong else f"{links} links of the site lead somewhere")
    else:
        wrong = check(root)
        print("\n".join(wrong) if wrong else "the documents agree with the tree")
    sys.exit(1 if wrong else 0)


main()
