"""Fills the placeholders when a page is written: claim strips, line labels, errata, and the generated pages."""
from __future__ import annotations

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from . import indexes
from .links import Links, source_text, spaced
from .nodes import claim_strip, element, erratum_entry, erratum_mention, html_element, line_mark, made_page
from .records import Place
from .sources import KINDS, Witness


class FillPlaceholders(SphinxPostTransform):
    """Runs before references are resolved, since copied errata carry references of their own."""

    default_priority = 5

    def run(self, **kwargs) -> None:
        placeholders = list(self.document.findall(_is_placeholder))
        links = Links(self.app, self.env.docname) if placeholders else None
        for node in placeholders:
            position = node.parent.index(node)
            node.parent[position:position + 1] = FILL[type(node)](node, links)


def _is_placeholder(node: nodes.Node) -> bool:
    return type(node) in FILL


def fill_claim(node: claim_strip, links: Links) -> list[nodes.Node]:
    """The strip under a statement: proof, code, bound, tests, source, errata, and the index."""
    label, book, sources = node["label"], links.book, links.sources
    box, proof = book.box(label), book.proof(label)
    if box is None:
        return []  # the check has warned
    entries = [[links.to(proof, "Proof")]] if proof else []
    for title, names in (("Code", node["algorithm"]), ("Bound", node["bound"])):
        known = [(name.rpartition(".")[2], sources.find(name)) for name in names if sources.find(name)]
        entries += [[nodes.Text(f"{title}: "), *spaced([links.to_definition(*pair) for pair in known])]] if known else []
    tests = sources.tests_of(label)
    if tests:
        entries.append([nodes.Text("Tests: "), *spaced([_by_kind(links, kind, tests) for kind in KINDS if any(t.kind == kind for t in tests)])])
    entries.append([nodes.Text(f"Source: {source_text(node['source'])}")])
    errata = [e for e in map(book.erratum, node["errata"]) if e]
    if errata:
        entries.append([nodes.Text("Errata: "), *spaced([links.to(e.place, e.name) for e in errata])])
    index = book.page_of("claims-index")
    if index:
        entries.append([links.to(Place(index, f"claim-{label}"), "In the claims index")])
    if tests:
        names = _list([[nodes.Text(f"{t.kind}: "), links.to_test(t)] for t in tests])
        entries.append([element("details", element("summary", nodes.Text("Tests by name")), names)])
    return [element("nav", _list(entries), classes=["dp-claim"], ids=node["ids"],
                    aria_label=f"Proof, code and tests of {links.name_of(box)}")]


def _by_kind(links: Links, kind: str, tests: list[Witness]) -> nodes.Node:
    """One link to the first test of a kind: its name is in the tooltip and in the list below."""
    first = next(t for t in tests if t.kind == kind)
    return links.to_code(first.path, first.name, kind, reftitle=first.name)


def _list(entries: list[list[nodes.Node]]) -> nodes.bullet_list:
    """A bullet list; an entry of blocks is taken as it is, inline parts become a paragraph."""
    blocks = ([p] if isinstance(p, html_element) else [nodes.paragraph("", "", *parts)] for parts in entries for p in parts[:1])
    return nodes.bullet_list("", *(nodes.list_item("", *parts) for parts in blocks))


def fill_line(node: line_mark, links: Links) -> list[nodes.Node]:
    """`[AT-1]`: in the algorithm box a link to the code, elsewhere a link to the box."""
    label = node["label"]
    code, box = links.sources.lines.get(label), links.book.line(label)
    if not node["defines"]:
        return [links.to(box, f"[{label}]") if box else nodes.Text(f"[{label}]")]
    text = links.to_code(code[0][0], f"L{code[0][1]}", f"[{label}]") if code else nodes.Text(f"[{label}]")
    return [nodes.inline("", "", text, ids=node["ids"], classes=["dp-line"])]


def fill_erratum(node: erratum_entry, links: Links) -> list[nodes.Node]:
    """The entry where the chapter has it."""
    erratum = links.book.erratum(node["erratum"])
    entry = element("div", indexes.erratum_heading(erratum, links), *node.children, classes=["dp-erratum"], ids=node["ids"])
    return [entry]


def fill_mention(node: erratum_mention, links: Links) -> list[nodes.Node]:
    erratum = links.book.erratum(node["erratum"])
    return [links.to(erratum.place, erratum.name) if erratum else nodes.Text(node["erratum"])]


def fill_page(node: made_page, links: Links) -> list[nodes.Node]:
    make = {"claims-index": indexes.claims_index, "errata-list": indexes.errata_list, "crosswalk": indexes.crosswalk}
    return make[node["what"]](links)


FILL = {claim_strip: fill_claim, line_mark: fill_line, erratum_entry: fill_erratum,
        erratum_mention: fill_mention, made_page: fill_page}
