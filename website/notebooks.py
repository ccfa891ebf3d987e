"""Notebook tool: run, clean and check the chapters, and turn them into text and back.

    python website/notebooks.py run [chapters/X.ipynb ...]      execute in a fresh kernel, store text outputs, clean
    python website/notebooks.py clean [chapters/X.ipynb ...]    drop all that a rerun elsewhere would change
    python website/notebooks.py check [chapters/X.ipynb ...]    fail and name each cell that is not clean
    python website/notebooks.py to-md chapters/X.ipynb X.md     as MyST text, to edit outside the book's folders
    python website/notebooks.py from-md X.md chapters/X.ipynb   back again; unchanged cells keep ids and outputs

With no command it runs all chapters. A notebook in git has text outputs, counts 1, 2, 3, ... and nothing else
that a run produces: no pictures, no widgets, no session metadata, no paths of the machine.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from pathlib import Path

import nbformat
from notebook_text import from_md, to_md

ROOT = Path(__file__).resolve().parent.parent
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}
NOTEBOOK_METADATA = ("kernelspec", "language_info", "mystnb")
CELL_METADATA = ("tags", "mystnb")
IGNORED = "nbval-ignore-output"  # the tag of a cell whose output is not compared
# A path of the machine: the folder of the project, a home or a temporary folder.
MACHINE_PATH = re.compile(r"(?:/home/|/root/|/Users/|/tmp/|/private/var/|[A-Z]:\\\\?Users)|" + re.escape(str(ROOT)))


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)


def dumps(notebook: nbformat.NotebookNode) -> str:
    """The one way a notebook is written: sorted keys, indent 1, characters as they are, newline at the end."""
    return json.dumps(nbformat.from_dict(_split(notebook)), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _split(notebook: nbformat.NotebookNode) -> dict:
    """Sources and texts as lists of lines, so that a diff shows lines."""
    return json.loads(nbformat.writes(notebook, version=4))


def write(path: Path, notebook: nbformat.NotebookNode) -> None:
    path.write_text(dumps(notebook), encoding="utf-8")


# --- clean -------------------------------------------------------------------------------------------------


def is_text(mime: str) -> bool:
    """Text that a test can compare; a glued value is text when what is glued is."""
    return mime.removeprefix("application/papermill.record/").startswith("text/")


def clean(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A copy without what another run, machine or editor would change."""
    notebook = nbformat.from_dict(json.loads(json.dumps(notebook)))
    kept = {key: notebook.metadata[key] for key in NOTEBOOK_METADATA if key in notebook.metadata}
    notebook.metadata = nbformat.from_dict(kept | KERNEL)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    count = 0
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({key: cell.metadata[key] for key in CELL_METADATA if cell.metadata.get(key)})
        cell.pop("attachments", None)
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        ignored = IGNORED in cell.metadata.get("tags", [])  # what is not compared would only go stale
        cell.outputs = [] if ignored else _joined([output for output in map(_clean_output, cell.outputs) if output])
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = count
    return notebook


def _joined(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Pieces of one stream that follow each other as one: where they were cut depends on the machine."""
    joined: list[nbformat.NotebookNode] = []
    for output in outputs:
        if joined and output.output_type == "stream" == joined[-1].output_type and output.name == joined[-1].name:
            joined[-1].text = "".join(joined[-1].text) + "".join(output.text)
        else:
            joined.append(output)
    return joined


def _clean_output(output: nbformat.NotebookNode) -> nbformat.NotebookNode | None:
    if output.output_type not in ("display_data", "execute_result"):
        return output
    output.data = nbformat.from_dict({mime: text for mime, text in output.data.items() if is_text(mime)})
    output.metadata = nbformat.from_dict({key: value for key, value in output.metadata.items() if key == "scrapbook"})
    return output if output.data else None


# --- check -------------------------------------------------------------------------------------------------


def problems(path: Path) -> list[str]:
    """What is not clean in a notebook, cell by cell."""
    text = path.read_text(encoding="utf-8")
    ids = [cell.get("id") for cell in json.loads(text)["cells"]]  # nbformat would mend ids without a word
    found = [f"cell {number}: id {name} is missing or used before" for number, name in enumerate(ids, 1) if ids.index(name) < number - 1 or not name]
    if found:
        return found
    notebook = nbformat.reads(text, as_version=4)
    cleaned = clean(notebook)
    if notebook.metadata != cleaned.metadata:
        extra = sorted(set(notebook.metadata) - set(cleaned.metadata))
        found.append(f"metadata of the notebook: {'drop ' + ', '.join(extra) if extra else 'not the standard kernel'}")
    count = 0
    for number, (cell, tidy) in enumerate(zip(notebook.cells, cleaned.cells), 1):
        count += cell.cell_type == "code"
        found += [f"cell {number} (id {cell.get('id')}): {what}" for what in _cell_problems(cell, tidy, count)]
    if not found and text != dumps(cleaned):
        found.append("the file is not written in the standard form")
    return found


def _cell_problems(cell: nbformat.NotebookNode, tidy: nbformat.NotebookNode, count: int) -> list[str]:
    found = []
    if cell.metadata != tidy.metadata:
        found.append(f"metadata {sorted(set(cell.metadata) - set(tidy.metadata))} is of one session")
    if "attachments" in cell:
        found.append("has attachments")
    if cell.cell_type != "code":
        return found
    if cell.execution_count != count:
        found.append(f"execution count is {cell.execution_count}, should be {count}")
    for output in cell.outputs:
        if output.output_type == "error":
            found.append(f"ends in an error: {output.ename}: {output.evalue}")
        if output.output_type == "stream" and output.name == "stderr":
            found.append("writes to stderr, which differs between runs")
        if MACHINE_PATH.search(json.dumps(output)):
            found.append("an output names a path of the machine")
        found += [f"output holds {mime}" for mime in output.get("data", {}) if not is_text(mime)]
        if output.get("execution_count", count) != count:
            found.append(f"the result is counted {output.execution_count}, should be {count}")
    if not found and cell.outputs != tidy.outputs:
        found.append("an output is of one session: its metadata, or that of a cell that is not compared")
    return found


# --- run ---------------------------------------------------------------------------------------------------


def run(path: Path, timeout: float = 120) -> float:
    """Execute in a fresh kernel, in order, in the folder of the notebook; store the outputs cleaned; seconds it took."""
    from nbclient import NotebookClient

    os.environ.pop("DPLIB_EXPLORE", None)  # the live form, as a reader and nbval run it
    notebook, start = read(path), time.perf_counter()
    total = sum(cell.cell_type == "code" for cell in notebook.cells)
    done = 0

    def show(cell, cell_index, execute_reply=None):
        nonlocal done
        done += 1
        if sys.stderr.isatty():
            print(f"\r{path.name}: cell {done} of {total}", end="", file=sys.stderr, flush=True)

    client = NotebookClient(notebook, timeout=timeout, kernel_name="python3", store_widget_state=False,
                            resources={"metadata": {"path": str(path.parent)}}, on_cell_executed=show)
    client.execute()
    write(path, clean(notebook))
    seconds = time.perf_counter() - start
    print(f"{chr(13) if sys.stderr.isatty() else ''}{path.name}: {total} cells in {seconds:.1f} s", file=sys.stderr)
    return seconds


# --- command line ------------------------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?", default="run", choices=["run", "clean", "check", "from-md", "to-md"])
    parser.add_argument("paths", nargs="*", type=Path, help="notebooks; all chapters if none is named")
    options = parser.parse_args(arguments)
    paths = options.paths
    if options.command in ("from-md", "to-md"):
        if len(paths) != 2:
            parser.error(f"{options.command} needs two files: the source, then what to write")
        source, target = paths
        if options.command == "to-md":
            target.write_text(to_md(read(source)), encoding="utf-8")
        else:
            write(target, clean(from_md(source.read_text(encoding="utf-8"), read(target) if target.is_file() else None)))
        return 0
    paths = paths or sorted((ROOT / "chapters").glob("*.ipynb"))
    for missing in [path for path in paths if not path.is_file()]:
        parser.error(f"there is no notebook {missing}")
    bad = 0
    for path in paths:
        if options.command == "run":
            run(path)
        elif options.command == "clean":
            write(path, clean(read(path)))
        else:
            for problem in problems(path):
                bad += 1
                print(f"{path}: {problem}", file=sys.stderr)
    if bad:
        print(f"{bad} problems: `python website/notebooks.py run` runs the notebooks afresh and cleans them", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
