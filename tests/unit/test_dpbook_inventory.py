"""The inventory is whole, and every item of a finished chapter is marked somewhere in the chapters."""
import re
import sys
from collections import Counter
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "website"))

from dpbook import inventory  # noqa: E402

CHAPTERS = inventory.read(ROOT / "website/inventory.yml")
MARK = re.compile(r"\{item\}`([^`]*)`|^:items:[ \t]*(.*)$", re.M)


def marked(text):
    """The items that a text marks with the role, or in a claim."""
    return {item for role, option in MARK.findall(text) for item in (role or option).replace(",", " ").split()}


def texts():
    """The text of every chapter: markdown pages and the markdown cells of notebooks."""
    for path in sorted((ROOT / "chapters").iterdir()):
        if path.suffix == ".md":
            yield path.read_text(encoding="utf-8")
        elif path.suffix == ".ipynb":
            yield from (cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")


def test_marks_are_found():
    assert marked("{item}`SV-1` and {item}`SV-2, SV-3`\n\n:items: SV-4 SV-5\n") == {f"SV-{i}" for i in range(1, 6)}
    assert marked("SV-1 in passing") == set()


def test_the_inventory_is_whole():
    """Seven chapters and the toolbox, numbered without a gap, each item with what it is and where the notes have it."""
    assert [chapter.name for chapter in CHAPTERS] == ["toolbox", *"1234567"]
    items = [item for chapter in CHAPTERS for item in chapter.items]
    assert all(item.what and re.match(r"00[0-4]:\d+", item.source) for item in items)
    count = Counter(item.name.partition("-")[0] for item in items)
    assert count == {"T": 7, "WM": 14, "MW": 20, "ME": 18, "PM": 16, "FA": 15, "SV": 15, "TR": 11}
    assert {item.name for item in items} == {f"{prefix}-{i}" for prefix, total in count.items() for i in range(1, total + 1)}


def test_every_item_of_a_finished_chapter_has_a_place():
    placed = set().union(*map(marked, texts()))
    finished = [chapter for chapter in CHAPTERS if chapter.finished]
    assert finished, "no chapter is finished: this test would pass on nothing"
    missing = [item.name for chapter in finished for item in chapter.items if item.name not in placed]
    assert not missing, f"no place in the book is marked with {{item}} or :items: for {missing}"


def test_every_marked_item_is_in_the_inventory():
    known = {item.name for chapter in CHAPTERS for item in chapter.items}
    assert set().union(*map(marked, texts())) <= known
