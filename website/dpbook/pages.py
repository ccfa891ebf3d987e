"""The source pages: every module of dplib and every claims test, highlighted, one anchor per line and definition.

Labels of claims, errata and algorithm lines in the code are links back to the chapter, so that the reader
can walk both ways.
"""
from __future__ import annotations

import html
import re
from typing import Iterator

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from .links import has_source_pages, source_page, statement_name
from .records import Place, Records
from .sources import CLAIM_LABEL, LINE_LABEL, Definition, Sources, definitions

ERRATUM = re.compile(r"(?<![\w-])E-\d+(?![\w-])")


def collect_pages(app) -> Iterator[tuple[str, dict, str]]:
    """One page for each file, in the layout of the theme."""
    if not has_source_pages(app.builder):
        return
    book, sources = app.env.get_domain("dpbook").book(), app.dpbook_sources
    for path, text in sources.files.items():
        page = SourcePage(app, book, sources, path)
        yield source_page(path), {"title": path, "body": page.body(text), "parents": []}, "page.html"


class SourcePage:
    """Makes the body of one source page."""

    def __init__(self, app, book: Records, sources: Sources, path: str) -> None:
        self.app, self.book, self.sources, self.path = app, book, sources, path

    def body(self, text: str) -> str:
        """Heading, contents, and the code with its anchors."""
        found = definitions(self.path, text)
        rows = highlight(text, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)).split("\n")
        if rows and not rows[-1]:
            rows.pop()
        starts = {d.line: d for d in found}
        lines = "\n".join(self.line(number, row, starts.get(number)) for number, row in enumerate(rows, 1))
        name = html.escape(self.path)
        return (f'<section class="dp-source" id="source"><h1>{name}</h1>\n'
                f"{self.claims(found)}"
                f'<div class="highlight-python notranslate"><div class="highlight">'
                f'<pre tabindex="0" role="region" aria-label="Source of {name}">{lines}\n</pre></div></div></section>')

    def line(self, number: int, row: str, definition: Definition | None) -> str:
        """A line with its number as a link to itself (out of the tab order: there are hundreds of them).

        A line that starts a definition has the anchor of its name too.
        """
        named = f'<span id="{definition.name}"></span>' if definition else ""
        return (f'<span class="dp-row" id="L{number}">{named}<a class="dp-number linenos" href="#L{number}" '
                f'aria-label="line {number}" tabindex="-1">{number}</a>{self.linked(row)}</span>')

    def claims(self, found: list[Definition]) -> str:
        """The statements that this file serves, with what serves them."""
        serving: dict[str, list[str]] = {}
        for definition in found:
            for label in definition.claims:
                serving.setdefault(label, []).append(definition.name)
        for w in self.sources.witnesses:
            if w.path == self.path:
                serving.setdefault(w.claim, []).append(w.name)
        entries = []
        for box in self.book.boxes:
            if box.label in serving:
                names = ", ".join(f'<a href="#{n}"><code>{html.escape(n)}</code></a>' for n in dict.fromkeys(serving[box.label]))
                entries.append(f"<li>{self.link(box.place, html.escape(self.title(box)))}: {names}</li>")
        if not entries:
            return ""
        return ('<nav class="dp-serves" aria-label="Claims of this file"><p>Claims of the book that this file serves:</p>'
                f'<ul>{"".join(entries)}</ul></nav>\n')

    def title(self, box) -> str:
        """Name and title of a statement as plain text; a title with formulas is left to the chapter."""
        plain = all(child.tagname == "#text" for child in box.title)
        return statement_name(self.app.env, box) + ("".join(child.astext() for child in box.title) if plain else "")

    def linked(self, row: str) -> str:
        """Labels in a highlighted line become links; text between tags only."""
        parts = re.split(r"(<[^>]*>)", row)
        return "".join(part if part.startswith("<") else self._link_labels(part) for part in parts)

    def _link_labels(self, text: str) -> str:
        def claim(match: re.Match) -> str:
            box = self.book.box(match[0])
            return self.link(box.place, match[0]) if box else match[0]

        def erratum(match: re.Match) -> str:
            entry = self.book.erratum(match[0])
            return self.link(entry.place, match[0]) if entry else match[0]

        def line(match: re.Match) -> str:
            place = self.book.line(match[1])
            return self.link(place, match[0]) if place else match[0]

        for pattern, replace in ((CLAIM_LABEL, claim), (LINE_LABEL, line), (ERRATUM, erratum)):
            parts = re.split(r"(<a [^>]*>.*?</a>)", text)
            text = "".join(part if part.startswith("<a ") else pattern.sub(replace, part) for part in parts)
        return text

    def link(self, place: Place, text: str) -> str:
        uri = self.app.builder.get_relative_uri(source_page(self.path), place.docname)
        return f'<a class="dp-back" href="{html.escape(uri)}#{place.anchor}">{text}</a>'
