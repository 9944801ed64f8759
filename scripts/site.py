#!/usr/bin/env python3
"""Builds the documentation as a site that needs no network and no server: open index.html.

usage: site.py SOURCE_DIRECTORY OUT [RUNS]     OUT: a new directory, or one created by this program before
                                               RUNS: a directory with pages of runs, NAME.html (`noli view`)

Pages are the Markdown files of docs, CONTRIBUTING.md and CHANGELOG.md; one page per public header; the
references of docs/reference/references.bib. Pages of runs are embedded where a document says <!-- page NAME --> after a picture, and
linked from the pictures of examples. A paragraph that is only a link to a CSV file is shown as a table that opens on a click. It resolves links between them and to files of the repository, links names in the text
to their declarations, and converts formulas ($...$, $$...$$) to MathML; then it checks every link of the result
and every formula. Needs python3-markdown-it, python3-mdit-py-plugins, python3-pygments and
blahtexml.
"""
import html
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
from xml.sax.saxutils import quoteattr

try:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound
except ImportError as error:
    print(f"site.py: {error}: install python3-markdown-it, python3-mdit-py-plugins and python3-pygments", file=sys.stderr)
    sys.exit(77)
if shutil.which("blahtexml") is None:
    print("site.py: install blahtexml", file=sys.stderr)
    sys.exit(77)

import headers
import tables
from check_docs import slug

# The menu: a title and the pages that come first. Other pages of the folder follow by name.
MENU = [
    ("Start here", "start", ["docs/index.md", "docs/start/first_hour.md", "docs/start/guide.md", "docs/start/examples.md"]),
    ("How to", "howto", []),
    ("Reference", "reference", ["docs/reference/scene.md", "docs/reference/python.md", "docs/reference/library.md"]),
    ("Background", "background", ["docs/background/theory.md"]),
    ("Evidence", "evidence", ["docs/evidence/validation.md", "docs/evidence/benchmarks.md"]),
    ("Decisions", "decisions", ["docs/decisions/README.md"]),
    ("Development", None, ["docs/design.md", "CONTRIBUTING.md", "CHANGELOG.md"]),
    ("Headers", None, []),
]
MARK = "made by scripts/site.py"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


# ---- contents -------------------------------------------------------------------------------------

class Page:
    def __init__(self, source, target, text):
        self.source, self.target, self.text = source, target, text
        title = re.search(r"^# (.*)$", text, re.M)
        self.title = title[1] if title else os.path.basename(source)


def references(text):
    """references.bib as Markdown, one heading per entry."""
    lines = ["# References", ""]
    for key, body in re.findall(r"@\w+\{([^,]+),(.*?)\n\}", text, re.S):
        field = dict(re.findall(r"(\w+)\s*=\s*\{(.*)\}", body))
        field = {name: re.sub(r"[{}\\]", "", value) for name, value in field.items()}
        authors = field.get("author", "").split(" and ")
        where = field.get("journal") or field.get("booktitle") or field.get("publisher") or ""
        volume = " ".join(filter(None, (field.get("volume"), f"({field['number']})" if "number" in field else "")))
        pages = field.get("pages", "").replace("--", "-")
        place = ", ".join(filter(None, (where, volume, pages, field.get("year"))))
        lines += [f"## {key}", "", f"{'; '.join(authors)}: *{field.get('title', '')}*. {place}."]
        if "doi" in field:
            lines[-1] += f" [doi:{field['doi']}](https://doi.org/{field['doi']})"
        lines.append("")
    return "\n".join(lines)


def listed(source):
    """The titles of the menu with the pages of each."""
    for title, folder, names in MENU:
        place = os.path.join(source, "docs", folder) if folder else ""
        found = sorted(os.listdir(place)) if os.path.isdir(place) else []
        others = [f"docs/{folder}/{name}" for name in found if name.endswith((".md", ".bib"))]
        yield title, names + [name for name in others if name not in names]


def collect(source):
    """All pages by source path, in the order of the menu, and the menu itself."""
    menu = list(listed(source))
    pages = {}
    for _, names in menu:
        for name in names:
            text = read(os.path.join(source, name))
            stem = os.path.splitext(os.path.basename(name))[0].lower()
            target = ("decisions" if stem == "readme" else stem) + ".html"
            pages[name] = Page(name, target, references(text) if name.endswith(".bib") else text)
    declared = {}
    library = next(names for title, names in menu if title == "Headers")
    for name, text, identifiers in headers.pages(os.path.join(source, "include", "noli")):
        path = f"include/noli/{name}"
        pages[path] = Page(path, f"api_{name[:-2]}.html", text)
        library.append(path)
        declared.update({identifier: pages[path].target for identifier in identifiers})
    return pages, [(title, names) for title, names in menu if names], declared


# ---- formulas -------------------------------------------------------------------------------------

class Formulas:
    """TeX to MathML. Pages get a marker for each formula, since one run of blahtexml takes all of them."""
    MARKER = re.compile(r"<!--formula (\d+)-->")
    # Markdown renderers drop a backslash before punctuation, so that formulas that all of them show have none
    SWALLOWED = re.compile(r"\\[^A-Za-z]")

    def __init__(self):
        self.found, self.errors, self.page = [], [], None

    def collect(self, text, options):
        if self.SWALLOWED.search(text):
            self.errors.append(f"{self.page}: ${text}$: a backslash before a character that is not a letter")
        self.found.append((self.page, " ".join(text.split()), "block" if options["display_mode"] else "inline"))
        return f"<!--formula {len(self.found) - 1}-->"

    def typeset(self):
        """The MathML of each collected formula."""
        lines = [f"<f t:{kind}={quoteattr(text)}/>" for _, text, kind in self.found]
        document = '<r xmlns:t="http://gva.noekeon.org/blahtexml">\n' + "\n".join(lines) + "\n</r>\n"
        result = subprocess.run(["blahtexml", "--xmlin"], input=document, capture_output=True, text=True)
        made = re.findall(r'<f(?: [^"]*"[^"]*")*>(.*?)</f>', result.stdout, re.S)
        if len(made) != len(self.found):
            sys.exit(f"site.py: blahtexml returned {len(made)} of {len(self.found)} formulas")
        for (page, text, _), math in zip(self.found, made):
            if not math.startswith("<math"):
                self.errors.append(f"{page}: ${text}$: {re.sub('<[^>]*>', ' ', math).strip()}")
        # a minus as long as the plus, and hats that stay as small as tildes
        return [math.replace(">-</mo>", ">&#x2212;</mo>")
                .replace('<mo accent="true">\u0302</mo>', '<mo stretchy="false" accent="true">&#x2c6;</mo>') for math in made]

    def fill(self, body, made):
        return self.MARKER.sub(lambda marker: made[int(marker[1])], body)


# ---- Markdown to HTML -----------------------------------------------------------------------------

class Renderer:
    # pictures of examples, and pictures that a page of a run replaces
    EXAMPLE = re.compile(r'<img src="files/docs/images/(?:examples/)?((?:stress/)?\w+)\.png"[^>]*>')
    TABLE = re.compile(r'<p><a href="files/(docs/[^"]*\.csv)">(.*?)</a></p>', re.S)
    EMBEDDED = re.compile(r'<p>(<img [^>]*>)</p>\s*<!-- page (\w+) -->')

    def __init__(self, source, out, pages, declared, runs):
        self.source, self.out, self.pages, self.declared, self.runs = source, out, pages, declared, runs
        self.cited = set(re.findall(r"^## (\w+)$", pages["docs/reference/references.bib"].text, re.M))
        self.parser = MarkdownIt("commonmark", {"highlight": self.highlight}).enable("table")
        self.formulas = Formulas()
        self.parser.use(dollarmath_plugin, allow_labels=False, allow_space=False,
                        renderer=self.formulas.collect)
        self.index = []

    def highlight(self, code, language, _):
        try:
            lexer = get_lexer_by_name(language or ("c" if language == "c" else "text"))
        except ClassNotFound:
            lexer = get_lexer_by_name("text")
        return highlight(code, lexer, HtmlFormatter(nowrap=True))

    def render(self, page):
        self.formulas.page = page.source
        tokens = self.parser.parse(page.text)
        contents, count = [], {}
        for k, token in enumerate(tokens):
            if token.type == "heading_open":
                name = slug(tokens[k + 1].content)
                n = count.get(name, 0)
                count[name] = n + 1
                identifier = name if n == 0 else f"{name}-{n}"
                token.attrSet("id", self.anchor(page, tokens[k + 1].content, identifier))
                plain = re.sub(r"[`*]", "", tokens[k + 1].content)
                if token.tag in ("h1", "h2", "h3"):
                    self.index.append([plain, page.title, f"{page.target}#{token.attrGet('id')}"])
                if token.tag == "h2":
                    contents.append((plain, token.attrGet("id")))
            for child, after in zip(token.children or [], (token.children or [])[1:] + [None]):
                self.follow(page, child, after)
        body = self.parser.renderer.render(tokens, self.parser.options, {})
        body = self.EMBEDDED.sub(self.embed, body)
        body = self.TABLE.sub(self.open_table, body)
        if page.source == "docs/start/examples.md":
            body = self.EXAMPLE.sub(self.link_run, body)
        body = body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
        body = self.connect(page, self.raise_powers(body))
        return re.sub(r'(<h[23] id="([^"]*)">.*?)(</h)', r'\1 <a class="anchor" href="#\2" title="link to this section">#</a>\3',
                      body), contents

    def anchor(self, page, heading, usual):
        """Names of the library and keys of references keep their letters."""
        whole = page.source.startswith("include/") or page.source.endswith(".bib")
        return heading if whole and " " not in heading and "/" not in heading else usual

    def follow(self, page, token, content):
        """A link or picture of the repository becomes one of the site; a page is called by its title."""
        name = {"link_open": "href", "image": "src"}.get(token.type)
        if name is None or re.match(r"[a-z]+:|#", token.attrGet(name)):
            return
        file, mark, anchor = token.attrGet(name).partition("#")
        goal = os.path.normpath(os.path.join(os.path.dirname(page.source), file))
        path = os.path.join(self.source, goal)
        if goal in self.pages:
            if content is not None and content.content == os.path.basename(goal):
                content.content = self.pages[goal].title
            token.attrSet(name, self.pages[goal].target + mark + anchor)
        elif os.path.isdir(path):
            token.attrSet(name, self.list_folder(goal))
        else:
            token.attrSet(name, self.copy(goal))

    def run_page(self, name):
        """The page of a run as a part of the site; None where there is none."""
        path = os.path.join(self.runs, name + ".html") if self.runs else ""
        if not os.path.isfile(path):
            return None
        os.makedirs(os.path.join(self.out, "runs"), exist_ok=True)
        shutil.copyfile(path, os.path.join(self.out, "runs", name + ".html"))
        return f"runs/{name}.html"

    def embed(self, found):
        target = self.run_page(found[2])
        if target is None:
            return found[0]
        title = re.search('alt="([^"]*)"', found[1])[1]
        return (f'<iframe class="run" src="{target}#frame=24&amp;wide" title="{title}" loading="lazy"></iframe>\n'
                f'<p class="under">{title}. Drag to turn, press space to play; <a href="{target}">in a window of its own</a>.</p>')

    def link_run(self, found):
        target = self.run_page(found[1].replace("/", "_"))
        return found[0] if target is None else f'<a href="{target}" title="the page of this run">{found[0]}<br>page of this run</a>'

    def open_table(self, found):
        """A table of a CSV file, closed until it is asked for."""
        names, *rows = tables.rows_of(read(os.path.join(self.source, found[1])))
        lines = ["<tr>" + "".join(f"<{tag}>{self.parser.renderInline(cell)}</{tag}>" for cell in row) + "</tr>"
                 for tag, row in [("th", names), *(("td", row) for row in rows)]]
        return (f'<details class="data"><summary>{found[2]}</summary>\n<table>{"".join(lines)}</table>\n'
                f'<p><a href="files/{found[1]}">CSV file</a></p></details>')

    def copy(self, goal):
        target = os.path.join(self.out, "files", goal)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.exists(os.path.join(self.source, goal)):
            shutil.copyfile(os.path.join(self.source, goal), target)
        return f"files/{goal}"

    def list_folder(self, goal):
        """A folder of the repository: a page with its files."""
        names = sorted(n for n in os.listdir(os.path.join(self.source, goal))
                       if os.path.isfile(os.path.join(self.source, goal, n)))
        links = [f'<li><a href="{html.escape(n)}">{html.escape(n)}</a></li>' for n in names]
        for name in names:
            self.copy(f"{goal}/{name}")
        with open(os.path.join(self.out, "files", goal, "index.html"), "w", encoding="utf-8") as file:
            file.write(f"<!DOCTYPE html><meta charset=utf-8><title>{goal}</title><h1>{goal}</h1>"
                       f"<ul>{''.join(links)}</ul>\n")
        return f"files/{goal}/index.html"

    def connect(self, page, body):
        """Links from citations and, outside of links, from names of the library."""
        if not page.source.endswith(".bib"):
            body = re.sub(r"\[(\w+)\](?!\()", lambda f: f'<a class="cite" href="references.html#{f[1]}">[{f[1]}]</a>'
                          if f[1] in self.cited else f[0], body)
        parts = re.split(r"(<a .*?</a>|<h\d.*?</h\d>|<[^>]+>)", body, flags=re.S)
        for k in range(0, len(parts), 2):
            parts[k] = headers.NAME.sub(self.name_link, parts[k])
        return "".join(parts)

    def raise_powers(self, body):
        """Powers in plain text, mainly in units: m/s^2."""
        parts = re.split(r"(<pre.*?</pre>|<code.*?</code>|<[^>]+>)", body, flags=re.S)
        for k in range(0, len(parts), 2):
            parts[k] = re.sub(r"(?<=[\w)])\^(-?\d+|[a-z]\b)", r"<sup>\1</sup>", parts[k])
        return "".join(parts)

    def name_link(self, found):
        target = self.declared.get(found[0])
        return f'<a href="{target}#{found[0]}">{found[0]}</a>' if target else found[0]


# ---- pages ----------------------------------------------------------------------------------------

STYLE = """
:root {
  color-scheme: light dark;
  --ink: #1d2730; --soft: #5a6872; --line: #dde3e8; --back: #ffffff; --side: #f5f7f9; --link: #0b5cad; --code: #f3f5f7;
  --word: #8b3fa8; --text: #2d7a33; --note: #6b7680; --number: #b3541e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #dfe6ec; --soft: #96a3ae; --line: #35414b; --back: #161c21; --side: #1c242b; --link: #7db7f0; --code: #212a32;
    --word: #cf9be6; --text: #8fcf95; --note: #8e9aa5; --number: #eba273;
  }
  img[src$=".svg"] { background: #fff; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 12px; -webkit-text-size-adjust: 100%; }
body { margin: 0; color: var(--ink); background: var(--back); font: 16px/1.6 system-ui, "DejaVu Sans", sans-serif; overflow-wrap: break-word; }
a { color: var(--link); text-decoration: none; } a:hover { text-decoration: underline; }
nav { position: fixed; inset: 0 auto 0 0; width: 256px; overflow-y: auto; padding: 18px; background: var(--side); border-right: 1px solid var(--line); font-size: 14.5px; line-height: 1.4; }
nav h2 { margin: 18px 0 4px; padding: 0; border: 0; font-size: 12px; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); }
nav ul { list-style: none; margin: 0; padding: 0; } nav li { margin: 4px 0; }
nav summary { cursor: pointer; font-size: 12px; color: var(--soft); }
nav .here { font-weight: 600; color: var(--ink); }
nav .brand { font-size: 21px; font-weight: 700; color: var(--ink); }
#search { width: 100%; margin: 10px 0 0; padding: 5px 8px; font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 4px; }
#open, nav label { display: none; }
#found { list-style: none; padding: 0; margin: 6px 0; } #found small { color: var(--soft); display: block; }
main { margin-left: 256px; padding: 24px 40px 80px; max-width: 1080px; }
h1 { font-size: 30px; line-height: 1.2; margin: 8px 0 16px; } h2 { margin-top: 40px; padding-top: 12px; border-top: 1px solid var(--line); line-height: 1.25; } h3 { margin-top: 28px; }
.anchor { visibility: hidden; font-weight: 400; color: var(--soft); } :is(h2, h3):hover .anchor, .anchor:focus { visibility: visible; }
.contents { padding: 10px 16px; background: var(--side); border-radius: 6px; font-size: 14.5px; columns: 2; }
.contents a { display: block; }
code, pre { font: 13.5px/1.45 "DejaVu Sans Mono", ui-monospace, monospace; background: var(--code); border-radius: 4px; }
code { padding: 1px 4px; } pre { padding: 12px 14px; overflow-x: auto; } pre code { padding: 0; overflow-wrap: normal; }
math { font-family: "STIX Two Math", "STIX Math", "STIXMath", "Cambria Math", "Latin Modern Math", "DejaVu Math TeX Gyre", math; font-size: 1.14em; } .math.block { overflow-x: auto; overflow-y: hidden; margin: 16px 0; padding: 2px 0; }
sup { line-height: 0; font-size: .75em; }
.wide { overflow-x: auto; margin: 14px 0; }
table { border-collapse: collapse; font-size: 14.5px; line-height: 1.45; overflow-wrap: normal; } th, td { padding: 4px 10px; border: 1px solid var(--line); text-align: left; vertical-align: top; } th { background: var(--side); }
iframe.run { width: 100%; height: min(62vh, 560px); border: 1px solid var(--line); border-radius: 6px; } .under { margin-top: 2px; font-size: 14.5px; color: var(--soft); }
details.data { margin: 8px 0; } details.data summary { cursor: pointer; color: var(--link); }
img { max-width: 100%; height: auto; border-radius: 4px; }
@media (max-width: 820px) {
  nav { position: static; width: auto; border: 0; border-bottom: 1px solid var(--line); padding: 12px 16px; }
  nav label { display: inline; float: right; padding: 3px 10px; border: 1px solid var(--line); border-radius: 4px; cursor: pointer; }
  #open:not(:checked) ~ .menu { display: none; }
  nav li { margin: 8px 0; }
  main { margin: 0; padding: 12px 16px 60px; } .contents { columns: 1; } h1 { font-size: 26px; }
}
.k, .kt, .kd, .kr, .nt { color: var(--word); } .s, .s1, .s2, .dl { color: var(--text); } .c, .c1, .cm, .cp, .cpf { color: var(--note); } .m, .mi, .mf, .mh { color: var(--number); } .nf { color: var(--link); }
"""

SCRIPT = """
const field = document.getElementById("search"), list = document.getElementById("found");
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const hits = words.length === 0 ? [] : INDEX.filter(([heading, page]) =>
    words.every(w => (heading + " " + page).toLowerCase().includes(w))).slice(0, 30);
  list.replaceChildren(...hits.map(([heading, page, target]) => {
    const item = document.createElement("li"), link = document.createElement("a"), where = document.createElement("small");
    link.href = target; link.textContent = heading; where.textContent = page;
    item.append(link, where); return item;
  }));
});
"""


def menu_of(menu, pages, page):
    lines = ['<a class="brand" href="index.html">Noli</a><input id="open" type="checkbox"><label for="open">Menu</label>',
             '<input id="search" type="search" placeholder="Search headings"><ul id="found"></ul><div class="menu">']
    for title, names in menu:
        # long lists are closed, unless the page is among them
        long = len(names) > 30
        closed = f"<details{' open' if page.source in names else ''}><summary>{len(names)} pages</summary>" if long else ""
        lines.append(f"<h2>{title}</h2>{closed}<ul>")
        for name in names:
            label = html.escape(pages[name].title)
            here = ' class="here"' if name == page.source else ""
            lines.append(f'<li><a{here} href="{pages[name].target}">{label}</a></li>')
        lines.append("</ul></details>" if long else "</ul>")
    return "\n".join(lines + ["</div>"])


def write_page(out, menu, pages, page, body, contents):
    box = ""
    if len(contents) > 2:
        links = "".join(f'<a href="#{i}">{html.escape(t)}</a>' for t, i in contents)
        box = f'<div class="contents">{links}</div>'
    body = body.replace("</h1>", "</h1>" + box, 1)
    with open(os.path.join(out, page.target), "w", encoding="utf-8") as file:
        file.write(f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
                   f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="generator" content="{MARK}">\n'
                   f'<title>{html.escape(page.title)} - Noli</title>\n<link rel="stylesheet" href="style.css">\n'
                   f'</head>\n<body>\n<nav>{menu_of(menu, pages, page)}</nav>\n<main>\n{body}</main>\n'
                   f'<script src="index.js"></script>\n<script src="search.js"></script>\n</body>\n</html>\n')


# ---- checks ---------------------------------------------------------------------------------------

class Result(html.parser.HTMLParser):
    """Contents of a page: anchors, links, formulas, and text outside code that should be a formula."""
    LEFT_OVER = re.compile(r"\S*[$^]\S*")

    def __init__(self, text):
        super().__init__()
        self.ids, self.targets, self.n_formulas, self.left_over = set(), [], 0, []
        self.verbatim = 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.verbatim += tag in ("code", "pre", "script", "math")
        self.n_formulas += tag == "math"
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src"):
                self.targets.append(value)

    def handle_endtag(self, tag):
        self.verbatim -= tag in ("code", "pre", "script", "math")

    def handle_data(self, data):
        if not self.verbatim:
            self.left_over += self.LEFT_OVER.findall(data)


def check_result(out, n_formulas):
    """Errors: links to a file or anchor that is not there, formulas that are not MathML; and a summary in words."""
    found = {}
    for place, _, names in os.walk(out):
        for name in names:
            if name.endswith(".html") and os.path.basename(place) != "runs":
                path = os.path.join(place, name)
                found[path] = Result(read(path))
    errors, n_links = [], 0
    for path, page in sorted(found.items()):
        where = os.path.relpath(path, out)
        errors += [f"{where}: {text}: a formula outside of $...$" for text in page.left_over]
        for target in page.targets:
            n_links += 1
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            goal = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if not os.path.exists(goal) or (anchor and goal in found and anchor not in found[goal].ids):
                errors.append(f"{where}: {target}: does not exist")
    n_typeset = sum(page.n_formulas for page in found.values())
    if n_typeset != n_formulas:
        errors.append(f"{n_formulas} formulas in the documents, {n_typeset} in the site")
    return errors, f"{len(found)} pages, {n_links} links, {n_typeset} formulas"


def clear(out):
    """Removes only the output of an earlier run."""
    if os.path.exists(out):
        index = os.path.join(out, "index.html")
        if os.listdir(out) and not (os.path.exists(index) and MARK in read(index)):
            sys.exit(f"site.py: {out} contains other files")
        shutil.rmtree(out)
    os.makedirs(out)


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    source, out = sys.argv[1:3]
    errors = headers.undocumented(os.path.join(source, "include", "noli"))
    clear(out)
    pages, menu, declared = collect(source)
    renderer = Renderer(source, out, pages, declared, sys.argv[3] if len(sys.argv) == 4 else None)
    rendered = [(page, *renderer.render(page)) for page in pages.values()]
    formulas = renderer.formulas.typeset()
    for page, body, contents in rendered:
        write_page(out, menu, pages, page, renderer.formulas.fill(body, formulas), contents)
    for name, content in (("style.css", STYLE), ("search.js", SCRIPT),
                          ("index.js", f"const INDEX = {json.dumps(renderer.index)};\n")):
        with open(os.path.join(out, name), "w", encoding="utf-8") as file:
            file.write(content)
    defects, content = check_result(out, len(formulas))
    errors += renderer.formulas.errors + defects
    for error in errors:
        print(error, file=sys.stderr)
    print(f"{content}, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
