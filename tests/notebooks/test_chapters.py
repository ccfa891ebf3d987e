"""Every chapter is clean, runs from top to bottom in a fresh kernel, and gives its committed outputs again."""
import re
import time

import pytest
from harness import CHAPTERS, nbval, tool

chapters = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
SLOW = 60  # seconds: the promise is "well under a minute"; the timeout of a cell is what fails a hanging one


def test_there_are_chapters():
    assert CHAPTERS, "no notebook in chapters/: the tests below would pass on nothing"


@chapters
def test_is_clean(path):
    assert tool.problems(path) == []


@chapters
def test_every_cell_is_compared_or_says_that_it_is_not(path):
    """nbval compares a cell with a count; only the visible tag may switch that off, never a comment in the code."""
    for number, cell in enumerate(tool.read(path).cells, 1):
        if cell.cell_type == "code":
            tags = set(cell.metadata.get("tags", []))
            assert cell.execution_count is not None, f"cell {number} has no count, so nbval would not compare it"
            assert not re.search(r"#\s*(NBVAL_|PYTEST_VALIDATE)", cell.source), f"cell {number} switches nbval off in its code"
            assert not tags & {"nbval-skip", "nbval-raises-exception"}, f"cell {number} is skipped"
            assert cell.outputs == [] or tool.IGNORED not in tags, f"cell {number} is not compared but has stored outputs"


@chapters
def test_says_something_that_is_compared(path):
    """A notebook whose cells print nothing would pass whatever the library computes."""
    cells = [cell for cell in tool.read(path).cells if cell.cell_type == "code"]
    assert any(cell.outputs for cell in cells)


@chapters
def test_gives_the_committed_outputs(path, record_property, capsys):
    start = time.perf_counter()
    result = nbval(path)
    seconds = time.perf_counter() - start
    assert result.failed == 0, result.output
    assert result.passed == sum(cell.cell_type == "code" for cell in tool.read(path).cells), result.output
    record_property("seconds", round(seconds, 1))
    with capsys.disabled():
        print(f"  {path.name}: {result.passed} cells in {seconds:.1f} s{' (SLOW)' if seconds > SLOW else ''}")
