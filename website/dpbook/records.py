"""What the chapters say: statements, proofs, claims, errata, items and algorithm lines, kept per page.

Everything is collected from the page's document tree when it has been read, so that a page that is read
again replaces its records and a page that is removed takes them along (incremental and parallel builds).
"""
from __future__ import annotations

from dataclasses import dataclass, field

from docutils import nodes
from sphinx.domains import Domain
from sphinx_proof.nodes import NODE_TYPES, proof_node, unenumerable_node

from .directives import anchor
from .nodes import claim_strip, erratum_entry, erratum_mention, item_mark, line_mark, made_page

STATEMENTS = ("theorem", "lemma", "corollary", "proposition")


@dataclass(frozen=True)
class Place:
    """A point of the book: page, anchor, line in the source, and the section and box around it."""

    docname: str
    anchor: str
    line: int | None = None
    section: str = ""  # id of the section
    section_title: str = ""
    box: str = ""  # label of the box


@dataclass(frozen=True)
class Box:
    """A numbered box of sphinx-proof."""

    label: str
    kind: str
    counter: str
    place: Place
    title: tuple[nodes.Node, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A `{claim}` directive."""

    label: str
    algorithm: tuple[str, ...]
    bound: tuple[str, ...]
    source: str
    errata: tuple[str, ...]
    place: Place


@dataclass(frozen=True)
class Erratum:
    """An `{erratum}` directive with its text."""

    name: str
    kind: str
    source: str
    claims: tuple[str, ...]
    place: Place
    body: tuple[nodes.Node, ...] = ()


@dataclass
class Records:
    """The records of one page, or (`Domain.book`) of all pages in reading order."""

    boxes: list[Box] = field(default_factory=list)
    proofs: list[tuple[str, Place]] = field(default_factory=list)  # (label of the statement, where)
    claims: list[Claim] = field(default_factory=list)
    errata: list[Erratum] = field(default_factory=list)
    items: list[tuple[str, Place]] = field(default_factory=list)
    lines: list[tuple[str, Place]] = field(default_factory=list)  # lines of algorithm boxes
    mentions: list[tuple[str, str, Place]] = field(default_factory=list)  # ("line" | "erratum", name, where)
    generated: list[tuple[str, Place]] = field(default_factory=list)

    def extend(self, other: Records) -> None:
        for name, values in vars(other).items():
            getattr(self, name).extend(values)

    def box(self, label: str) -> Box | None:
        return next((b for b in self.boxes if b.label == label), None)

    def proof(self, label: str) -> Place | None:
        return next((place for of, place in self.proofs if of == label), None)

    def erratum(self, name: str) -> Erratum | None:
        return next((e for e in self.errata if e.name == name), None)

    def line(self, label: str) -> Place | None:
        return next((place for name, place in self.lines if name == label), None)

    def page_of(self, what: str) -> str | None:
        """The page that holds a generated part."""
        return next((place.docname for name, place in self.generated if name == what), None)


class BookDomain(Domain):
    """Holds the records of every page."""

    name = "dpbook"
    label = "Claims, errata and inventory"
    initial_data = {"pages": {}}
    data_version = 1

    def clear_doc(self, docname: str) -> None:
        self.data["pages"].pop(docname, None)

    def merge_domaindata(self, docnames: list[str], otherdata: dict) -> None:
        for docname in docnames:
            if docname in otherdata["pages"]:
                self.data["pages"][docname] = otherdata["pages"][docname]

    def resolve_any_xref(self, *args) -> list:
        return []

    def book(self) -> Records:
        """All records, in the order in which the pages are read."""
        book = Records()
        for docname in reading_order(self.env):
            book.extend(self.data["pages"].get(docname, Records()))
        return book


def reading_order(env) -> list[str]:
    """Pages in the order of the table of contents, then any others."""
    order: dict[str, None] = {}

    def visit(docname: str) -> None:
        if docname not in order:
            order[docname] = None
            for child in env.toctree_includes.get(docname, []):
                visit(child)

    visit(env.config.root_doc)
    return [d for d in [*order, *sorted(set(env.found_docs) - set(order))] if d in env.found_docs]


def collect(app, doctree: nodes.document) -> None:
    """Read the records of one page from its tree; give boxes, proofs and items ids of their own."""
    env, docname = app.env, app.env.docname
    page, used, statement = Records(), set(doctree.ids), ""
    boxes = tuple(NODE_TYPES.values()) + (unenumerable_node,)
    for node in doctree.findall(nodes.Element):
        if isinstance(node, boxes):
            label = node["label"]
            if node["realtype"] in STATEMENTS:
                statement = label
            node[1]["ids"] = [f"{label}-content"]  # sphinx-proof gives every box the same id
            title = tuple(child.deepcopy() for child in node[0].children)
            page.boxes.append(Box(label, node["realtype"], node["countertype"], _place(docname, node, label), title))
        elif isinstance(node, proof_node):
            of = next((c[3:] for c in node[0]["classes"] if c.startswith("of-")), statement)
            node[0]["ids"] = [_unused(f"proof-{of}" if of else "proof", used)]
            page.proofs.append((of, _place(docname, node, node[0]["ids"][0])))
        elif isinstance(node, claim_strip):
            _number_items(docname, node, used, page)
            page.claims.append(Claim(node["label"], tuple(node["algorithm"]), tuple(node["bound"]), node["source"],
                                     tuple(node["errata"]), _place(docname, node, node["label"])))
        elif isinstance(node, item_mark):
            _number_items(docname, node, used, page)
        elif isinstance(node, erratum_entry):
            node["ids"] = [anchor("erratum", node["erratum"])]
            body = tuple(child.deepcopy() for child in node.children)
            page.errata.append(Erratum(node["erratum"], node["kind"], node["source"], tuple(node["claims"]),
                                       _place(docname, node, node["ids"][0]), body))
        elif isinstance(node, line_mark):
            node["defines"] = _inside_algorithm(node)
            place = _place(docname, node, anchor("line", node["label"]))
            if node["defines"]:
                node["ids"] = [place.anchor]
                page.lines.append((node["label"], place))
            else:
                page.mentions.append(("line", node["label"], place))
        elif isinstance(node, erratum_mention):
            page.mentions.append(("erratum", node["erratum"], _place(docname, node, "")))
        elif isinstance(node, made_page):
            page.generated.append((node["what"], _place(docname, node, "")))
            # titles and errata with formulas come to this page only when it is written
            env.get_domain("math").data["has_equations"][docname] = True
        elif node.get("ids") in (["exercise-content"], ["solution-content"]):  # the same on every exercise
            node["ids"] = [_unused(node["ids"][0], used)]
    env.get_domain("dpbook").data["pages"][docname] = page


def _number_items(docname: str, node: nodes.Element, used: set[str], page: Records) -> None:
    for item in node["items"]:
        node["ids"].append(_unused(anchor("item", item), used))
        box = {"box": node["label"]} if isinstance(node, claim_strip) else {}
        page.items.append((item, _place(docname, node, node["ids"][-1], **box)))


def _place(docname: str, node: nodes.Element, at: str, box: str = "") -> Place:
    section, title, parent, line = "", "", node, node.line
    while parent is not None:
        line = line or parent.line
        if isinstance(parent, nodes.section) and parent.children and isinstance(parent[0], nodes.title) and not title:
            section, title = parent["ids"][0], parent[0].astext()
        if not box and parent is not node and parent.get("realtype") and not isinstance(parent, unenumerable_node):
            box = parent["label"]
        parent = parent.parent
    return Place(docname, at, line, section, title, box)


def _inside_algorithm(node: nodes.Node) -> bool:
    while node is not None:
        if isinstance(node, nodes.Element) and node.get("realtype") == "algorithm":
            return True
        node = node.parent
    return False


def _unused(name: str, used: set[str]) -> str:
    """`name`, or name-2, name-3, ... if the page has it already."""
    free, count = name, 1
    while free in used:
        count += 1
        free = f"{name}-{count}"
    used.add(free)
    return free
