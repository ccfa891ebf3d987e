"""The notebook tool: what it drops and keeps, what its check names, and ids that survive the way through text."""
import copy
import json

import pytest
from harness import tool
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

WIDGET = "application/vnd.jupyter.widget-view+json"
GLUED = "application/papermill.record/"


@pytest.fixture
def messy():
    """A notebook as an editor leaves it."""
    result = new_output("execute_result", {"text/plain": "2", "text/html": "<b>2</b>", "image/png": "aGk="}, execution_count=7, metadata={"isolated": True})
    figure = new_output("display_data", {"image/png": "aGk=", "text/plain": "<Figure size 640x480 with 1 Axes>"})
    glued = new_output("display_data", {GLUED + "text/plain": "0.5", GLUED + "image/png": "aGk="}, metadata={"scrapbook": {"name": "ratio"}})
    picture, widget = new_output("display_data", {"image/svg+xml": "<svg/>"}), new_output("display_data", {WIDGET: {"model_id": "1"}, "text/plain": "slider"})
    cells = [new_markdown_cell("# Title", metadata={"editable": True}),
             new_code_cell("1 + 1", outputs=[result], execution_count=7, metadata={"tags": ["hide-input"], "execution": {"iopub": "now"}}),
             new_code_cell("print(1)", outputs=[new_output("stream", name="stdout", text="1\n")], execution_count=None),
             new_code_cell("draw()", outputs=[figure, glued, picture, widget], execution_count=3),
             new_code_cell("slider()", outputs=[widget], execution_count=9, metadata={"tags": [tool.IGNORED]})]
    metadata = {"widgets": {"state": 1}, "language_info": {"name": "python", "version": "3.11.4"}, "vscode": {},
                "kernelspec": {"name": "my-venv", "display_name": "My venv", "language": "python"}}
    return new_notebook(cells=cells, metadata=metadata)


def test_clean_keeps_text_and_ids_and_drops_the_rest(messy):
    before = copy.deepcopy(messy)
    notebook = tool.clean(messy)
    assert messy == before, "clean changed its argument"
    assert notebook.metadata == tool.KERNEL
    assert [cell.id for cell in notebook.cells] == [cell.id for cell in messy.cells]
    assert [cell.source for cell in notebook.cells] == [cell.source for cell in messy.cells]
    assert [cell.get("execution_count") for cell in notebook.cells] == [None, 1, 2, 3, 4]
    assert [cell.metadata for cell in notebook.cells] == [{}, {"tags": ["hide-input"]}, {}, {}, {"tags": [tool.IGNORED]}]
    _, first, second, third, fourth = notebook.cells
    assert first.outputs == [new_output("execute_result", {"text/plain": "2", "text/html": "<b>2</b>"}, execution_count=1)]
    assert second.outputs == messy.cells[2].outputs
    assert [output.data for output in third.outputs] == [{"text/plain": "<Figure size 640x480 with 1 Axes>"}, {GLUED + "text/plain": "0.5"}, {"text/plain": "slider"}]
    assert third.outputs[1].metadata == {"scrapbook": {"name": "ratio"}}
    assert fourth.outputs == []


def test_clean_is_idempotent_and_passes_the_check(messy, tmp_path):
    path = tmp_path / "clean.ipynb"
    tool.write(path, tool.clean(messy))
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n") and text.startswith('{\n "cells"')
    assert tool.main(["clean", str(path)]) == 0 and path.read_text(encoding="utf-8") == text
    assert tool.main(["check", str(path)]) == 0


def stderr(cell):
    cell.outputs.append(new_output("stream", name="stderr", text="progress"))


def machine_path(cell):
    cell.outputs.append(new_output("stream", text=f"wrote {tool.ROOT}/x"))


def error(cell):
    cell.outputs.append(new_output("error", ename="ValueError", evalue="no", traceback=[]))


def image(cell):
    cell.outputs.append(new_output("display_data", {"image/png": "aGk=", "text/plain": "x"}))


def no_count(cell):
    cell.execution_count = None


def wrong_count(cell):
    cell.execution_count = 5


def session(cell):
    cell.metadata["execution"] = {"iopub": "now"}


@pytest.mark.parametrize("spoil, message", [
    (stderr, "writes to stderr"), (machine_path, "path of the machine"), (error, "ends in an error: ValueError: no"), (image, "output holds image/png"),
    (no_count, "execution count is None, should be 2"), (wrong_count, "execution count is 5, should be 2"), (session, "metadata ['execution']"),
])
def test_check_names_the_cell_and_what_is_wrong(messy, tmp_path, capsys, spoil, message):
    notebook = tool.clean(messy)
    spoil(notebook.cells[2])
    path = tmp_path / "spoilt.ipynb"
    path.write_text(tool.dumps(notebook), encoding="utf-8")
    assert tool.main(["check", str(path)]) == 1
    said = capsys.readouterr().err
    assert f"cell 3 (id {notebook.cells[2].id})" in said and message in said


def test_check_sees_the_kernel_of_one_machine_the_form_of_the_file_and_double_ids(messy, tmp_path):
    path = tmp_path / "spoilt.ipynb"
    notebook = tool.clean(messy)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert tool.problems(path) == ["the file is not written in the standard form"]
    notebook.metadata.kernelspec = messy.metadata.kernelspec
    tool.write(path, notebook)
    assert tool.problems(path) == ["metadata of the notebook: not the standard kernel"]
    notebook = tool.clean(messy)
    notebook.cells[2].id = notebook.cells[1].id
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert tool.problems(path) == [f"cell 3: id {notebook.cells[1].id} is missing or used before"]


def test_text_and_back_gives_the_same_notebook(messy, tmp_path):
    notebook = tool.clean(messy)
    assert tool.clean(tool.from_md(tool.to_md(notebook), notebook)) == notebook


def test_an_edit_changes_its_cell_only(messy):
    notebook = tool.clean(messy)
    text = tool.to_md(notebook).replace("print(1)", "print(2)").replace("# Title", "# Title\n\nMore text.\n\n+++\n\nA new cell.")
    edited = tool.clean(tool.from_md(text, notebook))
    new = [cell for cell in edited.cells if cell.source == "A new cell."]
    assert [cell.id for cell in edited.cells if cell not in new] == [cell.id for cell in notebook.cells]
    assert edited.cells[2].outputs == notebook.cells[1].outputs, "an unchanged cell lost its output"
    assert edited.cells[3].source == "print(2)" and edited.cells[3].outputs == [], "a changed cell kept its old output"


def test_new_ids_depend_on_the_text_only():
    text = "# Title\n\n```{code-cell}\n1\n```\n\n```{code-cell}\n1\n```\n"
    first, second = tool.clean(tool.from_md(text)), tool.clean(tool.from_md(text))
    assert first == second
    assert [cell.cell_type for cell in first.cells] == ["markdown", "code", "code"]
    assert len({cell.id for cell in first.cells}) == 3


def test_wrong_commands_say_what_is_wrong(tmp_path, capsys):
    for arguments, message in ((["from-md", "x.md"], "needs two files"), (["check", str(tmp_path / "none.ipynb")], "there is no notebook")):
        with pytest.raises(SystemExit):
            tool.main(arguments)
        assert message in capsys.readouterr().err
