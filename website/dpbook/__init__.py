"""Local Sphinx extension of the book: one claim, four faces.

It ties each numbered statement to its proof, its code and its tests, shows the links under the statement,
makes the claims index, the list of errata, the crosswalk and the source pages, and fails the build (every
problem is a warning of type `dpbook`) when one of the ties is broken. See `checks.py` for the rules.
"""
from __future__ import annotations

import hashlib
import os
from pathlib import Path

from sphinx.util import logging

from . import inventory, numbering, sources
from .checks import check
from .directives import add_directives
from .nodes import add_nodes
from .pages import collect_pages
from .records import BookDomain, Place, Records, collect
from .render import FillPlaceholders

__version__ = "1"
logger = logging.getLogger(__name__)


def read_sources(app) -> None:
    """Read code, tests, measured ratios and inventory anew in every build: parsing takes milliseconds."""
    root = Path(app.srcdir)
    app.dpbook_sources = sources.scan(root, app.config.dpbook_package, app.config.dpbook_tests, app.config.dpbook_measured)
    app.dpbook_inventory = inventory.read(root / app.config.dpbook_inventory)


def check_book(app, env) -> list[str]:
    """Warn of every broken rule, and name the pages to write again because something they show has changed.

    The check runs in every build, not only when a page has changed: a second build must not forget a failure.
    """
    domain = env.get_domain("dpbook")
    book = domain.book()
    for problem in check(book, app.dpbook_sources, app.dpbook_inventory, f"{app.config.dpbook_package}.bounds"):
        where = problem.where
        location = (where.docname, where.line) if isinstance(where, Place) else where
        logger.warning(problem.message, type="dpbook", subtype=problem.rule, location=location)
    state = [app.dpbook_sources.digest(), app.dpbook_inventory, env.toc_fignumbers, env.toc_secnumbers, _fingerprint(book)]
    digest = hashlib.sha256(repr(state).encode()).hexdigest()
    if getattr(env, "dpbook_digest", None) == digest:
        return []
    env.dpbook_digest = digest
    return [docname for docname, page in domain.data["pages"].items() if page != Records()]


def _fingerprint(book: Records) -> str:
    """What other pages may show of a page."""
    errata = [(e.name, e.kind, e.source, e.claims, e.place, [n.pformat() for n in e.body]) for e in book.errata]
    boxes = [(b.label, b.kind, b.place, [n.astext() for n in b.title]) for b in book.boxes]
    return repr([errata, boxes, book.proofs, book.claims, book.items, book.lines, book.generated])


def setup(app) -> dict:
    # Notebooks are executed while pages are read; explore() then draws its static form.
    os.environ["DPLIB_EXPLORE"] = "static"
    app.setup_extension("sphinx_proof")
    app.add_config_value("dpbook_package", "dplib", "env")
    app.add_config_value("dpbook_tests", "tests/claims", "env")
    app.add_config_value("dpbook_measured", "_build/witness.json", "")
    app.add_config_value("dpbook_inventory", "website/inventory.yml", "env")
    app.add_domain(BookDomain)
    app.add_css_file("dpbook.css")
    add_nodes(app)
    add_directives(app)
    app.add_post_transform(FillPlaceholders)
    app.connect("builder-inited", read_sources)
    app.connect("doctree-read", collect)
    app.connect("env-get-updated", numbering.restore, priority=400)
    app.connect("env-get-updated", numbering.renumber, priority=600)  # Sphinx numbers sections and boxes at 500
    app.connect("env-get-updated", check_book, priority=900)
    app.connect("html-collect-pages", collect_pages)
    return {"version": __version__, "env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
