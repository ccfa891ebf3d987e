"""The pages made from the whole book: claims index, list of errata, crosswalk."""
from __future__ import annotations

from docutils import nodes

from .directives import ERRATUM_KINDS, anchor
from .links import Links, copied, source_text, spaced
from .nodes import element
from .records import Claim, Erratum, Place
from .sources import KINDS


def claims_index(links: Links) -> list[nodes.Node]:
    """Every claim by chapter: where it stands, what proves, computes and tests it, and how tight it is."""
    book, sources = links.book, links.sources
    tests = {(w.path, w.name) for claim in book.claims for w in sources.tests_of(claim.label)}
    sections: dict[str, nodes.section] = {}
    for claim in book.claims:
        docname = claim.place.docname
        if docname not in sections:
            sections[docname] = _section(f"claims-{docname.rpartition('/')[2]}", links.env.titles[docname].astext())
        sections[docname] += _claim(claim, links)
    summary = nodes.paragraph("", f"{_count(len(book.claims), 'claim')}, witnessed by {_count(len(tests), 'test')}.")
    return [summary, _overview(links), *sections.values()]


def _overview(links: Links) -> nodes.table:
    """The whole index at a glance: each claim with its ratio."""
    rows = []
    for claim in links.book.claims:
        box, record = links.book.box(claim.label), links.sources.ratio_of(claim.label)
        title = links.to(Place(links.docname, f"claim-{claim.label}"), *(links.title_of(box) if box else [claim.label]))
        rows.append(nodes.row("", _entry(title), _entry(nodes.Text(f"{record['ratio']:.4g}" if record else "–"))))
    return _table(("Claim", "Measured / bound"), (75, 25), rows, "dp-overview")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _claim(claim: Claim, links: Links) -> nodes.section:
    book, sources, label = links.book, links.sources, claim.label
    box, proof = book.box(label), book.proof(label)
    title = links.to(box.place, *links.title_of(box)) if box else nodes.Text(label)
    fields = nodes.field_list(classes=["dp-fields"])

    def row(name: str, parts: list[nodes.Node]) -> None:
        if parts:
            fields.append(nodes.field("", nodes.field_name("", name), nodes.field_body("", nodes.paragraph("", "", *parts))))

    row("Proof", [links.to(proof, links.name_of_place(proof))] if proof else [])
    for name, targets in (("Algorithm", claim.algorithm), ("Bound", claim.bound)):
        row(name, spaced([links.to_definition(t, sources.find(t)) for t in targets if sources.find(t)]))
    tests = sources.tests_of(label)
    for kind in KINDS:
        row(f"Test: {kind}", spaced([links.to_test(t) for t in tests if t.kind == kind]))
    row("Source", [nodes.Text(source_text(claim.source))])
    row("Errata", spaced([links.to(e.place, e.name) for e in map(book.erratum, claim.errata) if e]))
    row("Measured / bound", [nodes.Text(_ratio(claim, links))])
    section = nodes.section("", nodes.title("", "", title), fields, ids=[f"claim-{label}"], classes=["dp-index-claim"])
    return section


def _ratio(claim: Claim, links: Links) -> str:
    """The largest ratio that a test has recorded, with its two numbers."""
    if not links.sources.measured:
        return "not measured in this build"
    record = links.sources.ratio_of(claim.label)
    if record is None:
        return "no test records a ratio"
    test = record["test"].rpartition("::")[2]
    return f"{record['ratio']:.4g} ({record['measured']:.4g} / {record['bound']:.4g}, {test})"


def errata_list(links: Links) -> list[nodes.Node]:
    """Every erratum by chapter, with its text."""
    sections: dict[str, nodes.section] = {}
    for erratum in links.book.errata:
        docname = erratum.place.docname
        if docname not in sections:
            sections[docname] = _section(f"errata-{docname.rpartition('/')[2]}", links.env.titles[docname].astext())
        heading = erratum_heading(erratum, links, here=False)
        sections[docname] += element("div", heading, *copied(erratum.body, links.docname),
                                     classes=["dp-erratum"], ids=[erratum.place.anchor])
    return list(sections.values())


def erratum_heading(erratum: Erratum, links: Links, here: bool = True) -> nodes.paragraph:
    """"E-55, slip, lecture note 004, lines 69-79, on Theorem 6.1"."""
    name = nodes.strong("", erratum.name)
    kinds = " / ".join(ERRATUM_KINDS[k] for k in erratum.kind.split("/"))
    heading = nodes.paragraph("", "", name if here else links.to(erratum.place, name), classes=["dp-erratum-title"])
    heading += nodes.Text(f" ({kinds}; {source_text(erratum.source)}")
    boxes = [box for box in map(links.book.box, erratum.claims) if box]
    if boxes:
        heading += [nodes.Text("; on "), *spaced([links.to(box.place, links.name_of(box)) for box in boxes])]
    heading += nodes.Text(")")
    return heading


def crosswalk(links: Links) -> list[nodes.Node]:
    """A table per chapter of the inventory: item, what it is, where the notes have it, where this book has it."""
    sections = []
    for chapter in links.inventory:
        section = _section(f"crosswalk-{chapter.name}", chapter.title)
        rows = []
        for item in chapter.items:
            places = {}  # one link per name; the first place of that name
            for name, place in links.book.items:
                if name == item.name:
                    places.setdefault((place.docname, links.name_of_place(place)), place)
            where = spaced([links.to(place, text) for (_, text), place in places.items()], "; ")
            where = where or [nodes.Text("missing" if chapter.finished else f"comes with chapter {chapter.name}")]
            rows.append(nodes.row("", _entry(nodes.Text(item.name), ids=[anchor("crosswalk", item.name)]), _entry(nodes.Text(item.what)),
                                  _entry(nodes.Text(item.source)), _entry(*where)))
        sections.append(section)
        section += _table(("Item", "What it is", "Lecture note", "In this book"), (8, 42, 18, 32), rows, "dp-crosswalk")
    return sections


def _section(name: str, title: str) -> nodes.section:
    return nodes.section("", nodes.title("", title), ids=[name])


def _entry(*parts: nodes.Node, ids=()) -> nodes.entry:
    return nodes.entry("", nodes.paragraph("", "", *parts), ids=list(ids))


def _table(titles: tuple[str, ...], widths: tuple[int, ...], rows: list[nodes.row], name: str) -> nodes.table:
    head = nodes.thead("", nodes.row("", *(_entry(nodes.Text(title)) for title in titles)))
    columns = [nodes.colspec(colwidth=width) for width in widths]
    group = nodes.tgroup("", *columns, head, nodes.tbody("", *rows), cols=len(titles))
    return nodes.table("", group, classes=[name])
