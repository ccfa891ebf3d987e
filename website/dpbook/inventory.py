"""The inventory of what the lecture notes teach, read from `website/inventory.yml`."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class Item:
    """One thing the notes teach: a line on what it is, and where the notes have it."""

    name: str
    what: str
    source: str


@dataclass(frozen=True)
class Chapter:
    """A chapter of the inventory; `finished` when every item must have a place in the book."""

    name: str
    title: str
    finished: bool
    items: tuple[Item, ...]


def read(path: Path) -> list[Chapter]:
    """The chapters in order. The file is a list of {chapter, title, finished, items: {id: [what, source]}}."""
    if not path.is_file():
        return []
    return [Chapter(str(entry["chapter"]), entry["title"], bool(entry["finished"]),
                    tuple(Item(name, *pair) for name, pair in entry["items"].items()))
            for entry in yaml.safe_load(path.read_text(encoding="utf-8"))]
