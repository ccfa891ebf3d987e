"""The harness can fail: nbval notices what it should, and the traps it falls into alone are closed by the checks."""
import nbformat
import pytest
from harness import nbval, tool
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

CELLS = ["total = sum(range(11))", "print('total', total)", "total * 2", "object()"]


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """A small notebook as the tool writes it: run, cleaned, with an output of each kind."""
    path = tmp_path_factory.mktemp("sample") / "sample.ipynb"
    notebook = new_notebook(cells=[new_markdown_cell("# Sample"), *map(new_code_cell, CELLS)])
    tool.write(path, tool.clean(notebook))
    tool.run(path)
    return path


@pytest.fixture
def edited(sample, tmp_path):
    """Writes a copy of the sample with a change made to it."""
    def make(change):
        notebook = tool.read(sample)
        change(notebook)
        path = tmp_path / "edited.ipynb"
        path.write_text(nbformat.writes(notebook), encoding="utf-8")
        return path
    return make


def strip(notebook):
    """What common cleaners do: no outputs, no counts."""
    for cell in notebook.cells[1:]:
        cell.outputs, cell.execution_count = [], None


def falsify(notebook):
    cell = notebook.cells[2]
    assert cell.outputs[0].text == "total 55\n"
    cell.outputs[0].text = "total 56\n"


def falsify_result(notebook):
    notebook.cells[3].outputs[0].data["text/plain"] = "111"


def drop_outputs(notebook):
    notebook.cells[2].outputs = []


def test_a_true_notebook_passes(sample):
    """Addresses of objects differ from run to run; the last cell shows one, so this also tests that they are rewritten."""
    assert "0x" in tool.read(sample).cells[4].outputs[0].data["text/plain"]
    assert tool.problems(sample) == []
    result = nbval(sample)
    assert (result.passed, result.failed) == (len(CELLS), 0), result.output


@pytest.mark.parametrize("change", [falsify, falsify_result, drop_outputs], ids=lambda change: change.__name__)
def test_a_falsified_notebook_fails(edited, change):
    result = nbval(edited(change))
    assert (result.passed, result.failed) == (len(CELLS) - 1, 1), result.output


def test_a_stripped_notebook_fails(edited):
    """nbval alone lets it pass, since it does not compare a cell without a count: the check of hygiene is what fails."""
    path = edited(strip)
    assert nbval(path).failed == 0, "nbval now compares cells without a count: this trap is gone"
    assert [p for p in tool.problems(path) if "execution count is None" in p]
    assert tool.main(["check", str(path)]) == 1


def test_a_failing_cell_fails(edited):
    def fail(notebook):
        notebook.cells[2].source = "1 / 0"
    assert nbval(edited(fail)).failed == 1
