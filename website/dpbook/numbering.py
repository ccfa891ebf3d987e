"""Chapter numbers from file names: in `chapters/06-sparse-vector` the first theorem is Theorem 6.1.

Sphinx counts chapters by their position in the table of contents, which would renumber the theorems of every
chapter whenever one is added before it. Here the number in the file name counts, so a number never changes.
"""
from __future__ import annotations

import re

CHAPTER = re.compile(r"(?:.*/)?(\d\d)-[^/]*")


def restore(app, env) -> list[str]:
    """Give Sphinx its own numbers back before it counts again, or it would think that every page has changed."""
    env.toc_fignumbers = getattr(env, "dpbook_fignumbers", env.toc_fignumbers)
    return []


def renumber(app, env) -> list[str]:
    """Number theorems, algorithms, equations, figures and exercises by chapter: (6, 1), (6, 2), ..."""
    env.dpbook_fignumbers = env.toc_fignumbers
    env.toc_fignumbers = {docname: by_chapter(docname, numbers) for docname, numbers in env.toc_fignumbers.items()}
    return []


def by_chapter(docname: str, numbers: dict[str, dict[str, tuple[int, ...]]]) -> dict[str, dict[str, tuple[int, ...]]]:
    """The numbers of one page, {kind: {id: number}} with ids in the order of the page; other pages keep theirs."""
    match = CHAPTER.fullmatch(docname)
    if not match:
        return numbers
    chapter = int(match[1])
    return {kind: {name: (chapter, count) for count, name in enumerate(ids, 1)} for kind, ids in numbers.items()}
