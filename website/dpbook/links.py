"""Names and links: one way to call a statement, a section, a definition, a test or an erratum."""
from __future__ import annotations

from docutils import nodes
from sphinx.util.nodes import make_refnode

from .records import Box, Place, Records
from .sources import Definition, Sources, Witness


def source_page(path: str) -> str:
    """The page that shows a Python file."""
    return "code/" + path.removesuffix(".py")


class Links:
    """Makes references from one page to anything that the book knows."""

    def __init__(self, app, docname: str) -> None:
        self.builder, self.env, self.docname = app.builder, app.env, docname
        self.book: Records = app.env.get_domain("dpbook").book()
        self.sources: Sources = app.dpbook_sources
        self.inventory = app.dpbook_inventory

    @property
    def has_source_pages(self) -> bool:
        return has_source_pages(self.builder)

    def to(self, place: Place, *text: nodes.Node | str) -> nodes.reference:
        """A link to a place, with the text given."""
        parts = [nodes.Text(t) if isinstance(t, str) else t for t in text]
        return make_refnode(self.builder, self.docname, place.docname, place.anchor, parts)

    def to_code(self, path: str, at: str, *text: nodes.Node | str, **attributes: str) -> nodes.Node:
        """A link into a source page; plain text where the site has none (one-page print)."""
        parts = [nodes.Text(t) if isinstance(t, str) else t for t in text]
        if not self.has_source_pages:
            return nodes.inline("", "", *parts)
        uri = self.builder.get_relative_uri(self.docname, source_page(path)) + "#" + at
        return nodes.reference("", "", *parts, internal=True, refuri=uri, **attributes)

    def to_definition(self, name: str, definition: Definition) -> nodes.Node:
        return self.to_code(definition.path, definition.name, nodes.literal("", name))

    def to_test(self, test: Witness) -> nodes.Node:
        return self.to_code(test.path, test.name, nodes.literal("", test.name))

    def name_of(self, box: Box) -> str:
        """"Theorem 6.1", as the chapter prints it."""
        return statement_name(self.env, box)

    def title_of(self, box: Box) -> list[nodes.Node]:
        """"Theorem 6.1 (title)", formulas included."""
        return [nodes.Text(self.name_of(box)), *(_copied(node, self.docname) for node in box.title)]

    def name_of_place(self, place: Place) -> str:
        """The box around a place if it has a number, else the section: "6.2 The proof"."""
        box = self.book.box(place.box) if place.box else None
        if box is not None:
            return self.name_of(box)
        numbers = self.env.toc_secnumbers.get(place.docname, {})
        number = numbers.get("#" + place.section) or ()
        if not number and self.env.titles[place.docname].astext() == place.section_title:
            number = numbers.get("") or ()
        return " ".join([*filter(None, [".".join(map(str, number))]), place.section_title or place.docname])


def has_source_pages(builder) -> bool:
    return builder.format == "html" and builder.name != "singlehtml"


def statement_name(env, box: Box) -> str:
    numbers = env.toc_fignumbers.get(box.place.docname, {}).get(box.counter, {})
    return " ".join([box.kind.title(), ".".join(map(str, numbers.get(box.label, ())))]).strip()


def copied(nodes_: tuple[nodes.Node, ...], docname: str) -> list[nodes.Node]:
    """Copies for another page: references start from there, and no id is given twice."""
    return [_copied(node, docname) for node in nodes_]


def _copied(node: nodes.Node, docname: str) -> nodes.Node:
    node = node.deepcopy()
    for part in node.findall(nodes.Element):
        if "refdoc" in part:
            part["refdoc"] = docname
        part["ids"], part["names"] = [], []
        for numbered in {"label", "number"} & set(part.attributes):
            part[numbered] = None  # the writer of formulas asks for both
    return node


def spaced(parts: list[nodes.Node], separator: str = ", ") -> list[nodes.Node]:
    """The parts with a separator between them."""
    joined: list[nodes.Node] = []
    for part in parts:
        joined += [nodes.Text(separator), part] if joined else [part]
    return joined


def source_text(source: str) -> str:
    """"004:33-79; 003:56" as "lecture note 004, lines 33-79; 003, line 56"."""
    if not source or not source[0].isdigit():
        return source or "not given"
    places = []
    for place in filter(None, (part.strip() for part in source.split(";"))):
        note, _, lines = place.partition(":")
        several = "-" in lines or "," in lines
        places.append(f"{note}, line{'s' if several else ''} {lines.replace('-', '–')}" if lines else note)
    return "lecture note " + "; ".join(places)
