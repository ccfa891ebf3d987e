"""What the Python sources say about claims, read with `ast` alone: nothing is imported or run.

A definition in dplib names the claims it serves in its docstring (`Claim: thm-...`), a test names the claim
it witnesses in a mark (`@pytest.mark.claim("thm-...", kind="oracle")`), and a line of an algorithm carries
the label of its line in the algorithm box as a comment (`# [AT-1]`).
"""
from __future__ import annotations

import ast
import hashlib
import io
import json
import re
import tokenize
from dataclasses import dataclass, field
from pathlib import Path

KINDS = ("oracle", "property", "bound", "tight", "can-fail")
CLAIM_LABEL = re.compile(r"(?<![\w-])(?:thm|lem|cor|prop)-[a-z0-9]+(?:-[a-z0-9]+)*(?![\w-])")
LINE_LABEL = re.compile(r"\[(?!E-)([A-Z]{1,6}-\d+[a-z]?)\]")


@dataclass(frozen=True)
class Definition:
    """A function, class, method or constant: its dotted name inside the module, and where it stands."""

    name: str
    path: str
    line: int
    docstring: str = ""

    @property
    def claims(self) -> list[str]:
        """The claim labels that the docstring names, in order, each once."""
        return list(dict.fromkeys(CLAIM_LABEL.findall(self.docstring)))


@dataclass(frozen=True)
class Witness:
    """One claim mark on one test."""

    claim: str
    kind: str
    name: str
    path: str
    line: int


@dataclass
class Sources:
    """All Python files that the site shows, and what was found in them."""

    files: dict[str, str] = field(default_factory=dict)  # path -> text
    definitions: dict[str, Definition] = field(default_factory=dict)  # dplib.module.name -> definition
    handed_on: list[tuple[str, str]] = field(default_factory=list)  # (package, module): all of the module is imported there
    witnesses: list[Witness] = field(default_factory=list)
    lines: dict[str, list[tuple[str, int]]] = field(default_factory=dict)  # label -> [(path, line)]
    bad_marks: list[tuple[str, int, str]] = field(default_factory=list)  # (path, line, what is wrong)
    measured: dict[str, dict] = field(default_factory=dict)  # the record that the tests wrote

    def tests_of(self, label: str) -> list[Witness]:
        """The witnesses of a claim, ordered by kind and then by place."""
        found = [w for w in self.witnesses if w.claim == label]
        return sorted(found, key=lambda w: (KINDS.index(w.kind), w.path, w.line))

    def ratio_of(self, label: str) -> dict | None:
        """The largest measured/bound ratio of a claim among tests that still exist."""
        known = {f"{w.path}::{w.name.replace('.', '::')}" for w in self.tests_of(label)}
        records = [r | {"test": test} for test, r in self.measured.get(label, {}).items()
                   if test.split("[")[0] in known]
        return max(records, key=lambda r: r["ratio"], default=None)

    def find(self, name: str) -> Definition | None:
        """The definition of a dotted name, where it stands or where a package hands it on."""
        package, _, last = name.rpartition(".")
        places = [name, *(f"{module}.{last}" for into, module in self.handed_on if into == package)]
        return next((self.definitions[place] for place in places if place in self.definitions), None)

    def digest(self) -> str:
        """Changes when any file, or any measured number, does."""
        text = json.dumps([self.files, self.measured], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def scan(root: Path, package: str = "dplib", tests: str = "tests/claims", measured: str = "_build/witness.json") -> Sources:
    """Read every module of the package, every claims test, and the measured ratios if there are any."""
    sources = Sources()
    for path in _python_files(root, package):
        text = sources.files[path] = (root / path).read_text(encoding="utf-8")
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for definition in definitions(path, text):
            sources.definitions[f"{module}.{definition.name}"] = definition
        if path.endswith("/__init__.py"):
            sources.handed_on += [(module, node.module) for node in ast.parse(text, path).body
                                  if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"]
        for label, line in line_labels(text):
            sources.lines.setdefault(label, []).append((path, line))
    for path in _python_files(root, tests):
        text = sources.files[path] = (root / path).read_text(encoding="utf-8")
        good, bad = claim_marks(path, text)
        sources.witnesses += good
        sources.bad_marks += bad
    record = root / measured
    if record.is_file():
        sources.measured = json.loads(record.read_text(encoding="utf-8"))
    return sources


def definitions(path: str, text: str) -> list[Definition]:
    """Top-level functions, classes and constants, and the methods of the classes."""
    found = []

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                name = prefix + node.name
                found.append(Definition(name, path, node.lineno, ast.get_docstring(node) or ""))
                if isinstance(node, ast.ClassDef):
                    visit(node.body, name + ".")
            elif isinstance(node, ast.Assign) and not prefix:
                found.extend(Definition(t.id, path, node.lineno) for t in node.targets if isinstance(t, ast.Name))

    visit(ast.parse(text, path).body, "")
    return found


def claim_marks(path: str, text: str) -> tuple[list[Witness], list[tuple[str, int, str]]]:
    """The claim marks on test functions and on classes of tests, and the marks that cannot be read."""
    good, bad, tree = [], [], ast.parse(text, path)
    constants = {target.id: node.value.value for node in tree.body if isinstance(node, ast.Assign)
                 and isinstance(node.value, ast.Constant) for target in node.targets if isinstance(target, ast.Name)}

    def visit(body: list[ast.stmt], prefix: str, inherited: list[tuple[str, str]]) -> None:
        for node in body:
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            marks = inherited + _marks(node.decorator_list, constants, path, bad)
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.", marks)
            elif node.name.startswith("test"):
                good.extend(Witness(c, kind, prefix + node.name, path, node.lineno) for c, kind in marks)

    visit(tree.body, "", [])
    return good, bad


def _marks(decorators: list[ast.expr], constants: dict, path: str, bad: list[tuple[str, int, str]]) -> list[tuple[str, str]]:
    """(label, kind) of each `pytest.mark.claim(label, kind=...)` among the decorators.

    The label is a string, or the name of a constant of the module, so that it can be read without running anything.
    """
    marks = []
    for call in decorators:
        if ast.unparse(call.func if isinstance(call, ast.Call) else call) != "pytest.mark.claim":
            continue
        try:
            (label,), (keyword,) = call.args, call.keywords
            label = constants[label.id] if isinstance(label, ast.Name) else ast.literal_eval(label)
            kind = ast.literal_eval(keyword.value)
            if keyword.arg != "kind" or kind not in KINDS or not isinstance(label, str):
                raise ValueError
        except (AttributeError, KeyError, ValueError):
            bad.append((path, call.lineno, f'write @pytest.mark.claim("thm-...", kind=...) with kind one of {", ".join(KINDS)}'))
        else:
            marks.append((label, kind))
    return marks


def line_labels(text: str) -> list[tuple[str, int]]:
    """(label, line number) of every `[AT-1]` in a comment."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [(label, token.start[0]) for token in tokens if token.type == tokenize.COMMENT
            for label in LINE_LABEL.findall(token.string)]


def _python_files(root: Path, folder: str) -> list[str]:
    return sorted(p.relative_to(root).as_posix() for p in (root / folder).rglob("*.py"))
