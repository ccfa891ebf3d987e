"""The rules that tie statement, proof, code and tests together. A broken rule is a warning, so it fails the build."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Iterator

from .inventory import Chapter
from .records import STATEMENTS, Claim, Place, Records
from .sources import KINDS, Sources


@dataclass(frozen=True)
class Problem:
    """A broken rule: a short name of the rule, what is wrong and what to do, and where."""

    rule: str
    message: str
    where: Place | str | None = None


def check(book: Records, sources: Sources, inventory: list[Chapter], bounds: str = "dplib.bounds") -> list[Problem]:
    """Every broken rule of the whole book."""
    return [*check_claims(book, sources, bounds), *check_code(book, sources), *check_errata(book),
            *check_lines(book, sources), *check_inventory(book, inventory)]


def check_claims(book: Records, sources: Sources, bounds: str) -> Iterator[Problem]:
    """Each statement has one claim, and each claim a statement, a proof, code and all five kinds of test."""
    count = Counter(claim.label for claim in book.claims)
    for box in book.boxes:
        if box.kind in STATEMENTS and box.label not in count:
            yield Problem("unclaimed", f"{box.kind} '{box.label}' has no {{claim}} directive after it", box.place)
    for of, place in book.proofs:
        if of and book.box(of) is None:
            yield Problem("proof", f"a proof says it is of '{of}', but no statement has that label", place)
    for claim in book.claims:
        box, label = book.box(claim.label), claim.label
        if count[label] > 1:
            yield Problem("claim", f"claim '{label}' is given {count[label]} times", claim.place)
        if box is None or box.kind not in STATEMENTS or box.place.docname != claim.place.docname:
            yield Problem("claim", f"claim '{label}': this page has no {' or '.join(STATEMENTS)} with that label", claim.place)
        if book.proof(label) is None:
            yield Problem("proof", f"claim '{label}' has no {{prf:proof}} after its statement", claim.place)
        if not claim.source:
            yield Problem("source", f"claim '{label}' needs a :source: (a place in the notes, or 'our own')", claim.place)
        yield from _check_code_of(claim, sources, bounds)
        missing = set(KINDS) - {w.kind for w in sources.tests_of(label)}
        if missing:
            kinds = ", ".join(kind for kind in KINDS if kind in missing)
            yield Problem("tests", f"claim '{label}' has no test of kind {kinds}", claim.place)
        if sources.measured and sources.ratio_of(label) is None:
            message = f"claim '{label}': no test has recorded measured and bound with the witness fixture; run all of tests/claims"
            yield Problem("ratio", message, claim.place)


def _check_code_of(claim: Claim, sources: Sources, bounds: str) -> Iterator[Problem]:
    for option, names in (("algorithm", claim.algorithm), ("bound", claim.bound)):
        if not names:
            yield Problem("code", f"claim '{claim.label}' names no :{option}:", claim.place)
        for name in names:
            definition = sources.find(name)
            if definition is None:
                yield Problem("code", f"claim '{claim.label}': there is no {name}", claim.place)
            elif option == "bound" and not name.startswith(bounds + "."):
                yield Problem("code", f"claim '{claim.label}': the bound {name} is not in {bounds}", claim.place)
            elif claim.label not in definition.claims:
                message = f"the docstring of {name} does not say 'Claim: {claim.label}'"
                yield Problem("docstring", message, f"{definition.path}:{definition.line}")


def check_code(book: Records, sources: Sources) -> Iterator[Problem]:
    """Each claim that a test or a docstring names exists, and each mark can be read."""
    known = {claim.label for claim in book.claims}
    for path, line, message in sources.bad_marks:
        yield Problem("mark", message, f"{path}:{line}")
    for w in sources.witnesses:
        if w.claim not in known:
            yield Problem("tests", f"{w.name} witnesses '{w.claim}', which no chapter claims", f"{w.path}:{w.line}")
    for name, definition in sources.definitions.items():
        for label in definition.claims:
            if label not in known:
                message = f"the docstring of {name} names '{label}', which no chapter claims"
                yield Problem("docstring", message, f"{definition.path}:{definition.line}")


def check_errata(book: Records) -> Iterator[Problem]:
    """Errata are defined once, and claim and erratum name each other or neither names the other."""
    claims = {claim.label: claim for claim in book.claims}
    for name, count in Counter(e.name for e in book.errata).items():
        if count > 1:
            yield Problem("erratum", f"erratum {name} is given {count} times", book.erratum(name).place)
    for claim in book.claims:
        for name in claim.errata:
            erratum = book.erratum(name)
            if erratum is None:
                yield Problem("erratum", f"claim '{claim.label}' names erratum {name}, which is not given", claim.place)
            elif claim.label not in erratum.claims:
                yield Problem("erratum", f"erratum {name} does not name '{claim.label}' in :claim:, which names it", erratum.place)
    for erratum in book.errata:
        for label in erratum.claims:
            if label not in claims:
                yield Problem("erratum", f"erratum {erratum.name} names '{label}', which no chapter claims", erratum.place)
            elif erratum.name not in claims[label].errata:
                yield Problem("erratum", f"claim '{label}' does not name erratum {erratum.name}, which names it", claims[label].place)
    for kind, name, place in book.mentions:
        if kind == "erratum" and book.erratum(name) is None:
            yield Problem("erratum", f"erratum {name} is mentioned but not given", place)


def check_lines(book: Records, sources: Sources) -> Iterator[Problem]:
    """The lines of the algorithm boxes and the labelled lines of the code are the same."""
    for label, count in Counter(label for label, _ in book.lines).items():
        place = book.line(label)
        if count > 1:
            yield Problem("line", f"line [{label}] stands in {count} places of algorithm boxes", place)
        if label not in sources.lines:
            yield Problem("line", f"line [{label}] has no '# [{label}]' in the code", place)
    for label, places in sources.lines.items():
        path, line = places[0]
        if book.line(label) is None:
            yield Problem("line", f"the code has '# [{label}]', but no algorithm box has that line", f"{path}:{line}")
        if len({path for path, _ in places}) > 1:
            yield Problem("line", f"'# [{label}]' stands in more than one module", f"{path}:{line}")
    for kind, name, place in book.mentions:
        if kind == "line" and book.line(name) is None:
            yield Problem("line", f"line [{name}] is mentioned, but no algorithm box has it", place)


def check_inventory(book: Records, inventory: list[Chapter]) -> Iterator[Problem]:
    """Every marked item is known, and every item of a finished chapter has a place."""
    known = {item.name for chapter in inventory for item in chapter.items}
    placed = {name for name, _ in book.items}
    for name, place in book.items:
        if name not in known:
            yield Problem("item", f"inventory item {name} is unknown", place)
    for chapter in inventory:
        for item in chapter.items:
            if chapter.finished and item.name not in placed:
                message = f"{chapter.title} is finished, but item {item.name} ({item.what}) has no place in the book"
                yield Problem("item", message, book.page_of("crosswalk"))
