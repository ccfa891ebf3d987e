"""Chapters as MyST text and back, with cell ids that stay: the text is easier to write, the notebook is what is kept."""
from __future__ import annotations

import difflib
import hashlib

import jupytext
import nbformat


def from_md(text: str, old: nbformat.NotebookNode | None = None) -> nbformat.NotebookNode:
    """A notebook from MyST text. Cells that the old notebook has too keep their ids, and unchanged code its outputs."""
    if not text.lstrip().startswith("---"):  # jupytext needs a kernel in the header to see code cells
        text = "---\nkernelspec: {name: python3, display_name: Python 3, language: python}\n---\n" + text
    notebook = jupytext.reads(text, fmt="md:myst")
    before = list(old.cells) if old else []
    matches = _matches(before, notebook.cells)
    taken = {before[index].id for index in matches.values()}
    for number, cell in enumerate(notebook.cells):
        twin = before[matches[number]] if number in matches else None
        cell.id = twin.id if twin else _new_id(cell, taken)
        taken.add(cell.id)
        if cell.cell_type == "code":
            same = twin is not None and twin.source == cell.source
            cell.outputs = twin.outputs if same else []
    return notebook


def _matches(before: list, after: list) -> dict[int, int]:
    """New cell -> old cell: equal ones, and between them the edited ones that are still alike, in order."""
    def key(cell):
        return cell.cell_type, cell.source.strip()

    matcher = difflib.SequenceMatcher(None, [key(c) for c in before], [key(c) for c in after], autojunk=False)
    matches = {}
    for tag, a, a_end, b, b_end in matcher.get_opcodes():
        if tag == "equal":
            matches |= dict(zip(range(b, b_end), range(a, a_end)))
        for j in range(b, b_end) if tag == "replace" else ():
            alike = next((i for i in range(a, a_end) if _alike(before[i], after[j], alone=a_end - a == b_end - b == 1)), None)
            if alike is not None:
                matches[j], a = alike, alike + 1
    return matches


def _alike(old: nbformat.NotebookNode, new: nbformat.NotebookNode, alone: bool) -> bool:
    if old.cell_type != new.cell_type:
        return False
    return alone or difflib.SequenceMatcher(None, old.source, new.source, autojunk=False).ratio() > 0.5


def _new_id(cell: nbformat.NotebookNode, taken: set[str]) -> str:
    """An id made from the content, so that the same text gives the same notebook everywhere."""
    salt = 0
    while True:
        name = hashlib.sha256(f"{cell.cell_type}\n{cell.source}\n{salt}".encode()).hexdigest()[:8]
        if name not in taken:
            return name
        salt += 1


def to_md(notebook: nbformat.NotebookNode) -> str:
    return jupytext.writes(notebook, fmt="md:myst")
