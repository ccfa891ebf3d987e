"""Document nodes of the book: placeholders that the directives leave and the writing phase fills."""
from __future__ import annotations

from docutils import nodes
from docutils.nodes import Element, General, Inline


class claim_strip(General, Element):
    """The links under a statement: `label`, `algorithm`, `bound`, `source`, `errata`, `items`."""


class item_mark(Inline, Element):
    """The invisible anchor of inventory items treated here: `items`."""


class line_mark(Inline, Element):
    """The label of a line of an algorithm: `label`; it defines the line when `defines` is set."""


class erratum_entry(General, Element):
    """A correction of the lecture notes: `erratum`, `kind`, `source`, `claims`, and the text as children."""


class erratum_mention(Inline, Element):
    """A mention of an erratum in running text: `erratum`."""


class made_page(General, Element):
    """Where a page made from the whole book goes: `what` is claims-index, errata-list or crosswalk."""


class html_element(General, Element):
    """A plain HTML element, `tag` with `attrs`; other writers see its children only."""


def element(tag: str, *children: nodes.Node, ids=(), classes=(), **attrs: str) -> html_element:
    """`element("nav", ..., aria_label="...")`: underscores of attribute names become hyphens."""
    attrs = {name.replace("_", "-"): value for name, value in attrs.items()}
    return html_element("", *children, tag=tag, attrs=attrs, ids=list(ids), classes=list(classes))


def visit_html_element(self, node: html_element) -> None:
    self.body.append(self.starttag(node, node["tag"], "", **node["attrs"]))


def depart_html_element(self, node: html_element) -> None:
    self.body.append(f"</{node['tag']}>")


def _visit_item(self, node: item_mark) -> None:
    self.body.append(self.starttag(node, "span", "", CLASS="dp-item"))


def _depart_item(self, node: item_mark) -> None:
    self.body.append("</span>")


def _nothing(self, node: Element) -> None:
    pass


def add_nodes(app) -> None:
    """The placeholders are all gone by writing time; the two that stay get visitors."""
    others = {name: (_nothing, _nothing) for name in ("latex", "text", "man", "texinfo")}
    app.add_node(html_element, html=(visit_html_element, depart_html_element), **others)
    app.add_node(item_mark, html=(_visit_item, _depart_item), **others)
    for placeholder in (claim_strip, line_mark, erratum_entry, erratum_mention, made_page):
        app.add_node(placeholder)
