"""What authors write: `{claim}`, `{erratum}`, the generated pages, and the roles `{item}`, `{line}`, `{erratum}`."""
from __future__ import annotations

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective, SphinxRole

from .nodes import claim_strip, erratum_entry, erratum_mention, item_mark, line_mark, made_page

ERRATUM_KINDS = {"O": "transcription damage", "S": "slip", "L": "loose but true", "M": "missing condition", "C": "common misconception"}


def anchor(prefix: str, name: str) -> str:
    """`anchor("item", "SV-1")` is "item-sv-1"."""
    return f"{prefix}-{name.lower()}"


class Claim(SphinxDirective):
    """The strip of links under the statement whose label is the argument."""

    required_arguments = 1
    option_spec = {name: directives.unchanged_required for name in ("algorithm", "bound", "source", "errata", "items")}

    def run(self) -> list[nodes.Node]:
        words = {name: self.options.get(name, "").split() for name in ("algorithm", "bound", "errata", "items")}
        node = claim_strip(label=self.arguments[0], source=self.options.get("source", "").strip(), **words)
        self.set_source_info(node)
        return [node]


class Erratum(SphinxDirective):
    """A correction of the lecture notes: `E-55 S`, the source lines, the claims it touches, and why."""

    required_arguments = 2
    has_content = True
    option_spec = {"source": directives.unchanged_required, "claim": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        name, kind = self.arguments
        if not set(kind.split("/")) <= set(ERRATUM_KINDS):
            raise self.error(f"kind of erratum {name} is {kind!r}, must be one of {', '.join(ERRATUM_KINDS)}")
        if not self.content or "source" not in self.options:
            raise self.error(f"erratum {name} needs a :source: and a text")
        node = erratum_entry(erratum=name, kind=kind, source=self.options["source"].strip(),
                             claims=self.options.get("claim", "").replace(",", " ").split())
        self.set_source_info(node)
        self.state.nested_parse(self.content, self.content_offset, node)
        return [node]


class Generated(SphinxDirective):
    """`{claims-index}`, `{errata-list}` and `{crosswalk}`: filled when the whole book has been read."""

    def run(self) -> list[nodes.Node]:
        return [made_page(what=self.name)]


class Item(SphinxRole):
    """Marks the place where inventory items are treated: an anchor that readers do not see."""

    def run(self):
        return [_located(self, item_mark(items=self.text.replace(",", " ").split()))], []


class Line(SphinxRole):
    """The label of a line of an algorithm box, or in running text a mention of it."""

    def run(self):
        return [_located(self, line_mark(label=self.text.strip()))], []


class ErratumMention(SphinxRole):
    """A link to the entry of an erratum."""

    def run(self):
        return [_located(self, erratum_mention(erratum=self.text.strip()))], []


def _located(role: SphinxRole, node: nodes.Element) -> nodes.Element:
    node.source, node.line = role.get_source_info()
    return node


def add_directives(app) -> None:
    app.add_directive("claim", Claim)
    app.add_directive("erratum", Erratum)
    for name in ("claims-index", "errata-list", "crosswalk"):
        app.add_directive(name, Generated)
    app.add_role("item", Item())
    app.add_role("line", Line())
    app.add_role("erratum", ErratumMention())
