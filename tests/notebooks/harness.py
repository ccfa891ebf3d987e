"""Runs nbval on a notebook in a process of its own, with the book's settings.

`pytest tests/notebooks` calls this for every chapter, so `make test` needs nothing else. By hand it is

    pytest --nbval --nbval-sanitize-with tests/notebooks/sanitize.cfg --nbval-cell-timeout 120 chapters/*.ipynb

nbval executes the cells in a fresh kernel, in order, and compares their text with the committed outputs.
"""
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
sys.path.insert(0, str(ROOT / "website"))  # the notebook tool is a script, not a package

import notebooks as tool  # noqa: E402

__all__ = ["CHAPTERS", "ROOT", "Result", "nbval", "tool"]


@dataclass(frozen=True)
class Result:
    """How many cells passed and failed, and what nbval printed."""

    passed: int
    failed: int
    output: str


def nbval(notebook: Path, *options: str) -> Result:
    """Executes and compares one notebook; a run that collects nothing or breaks down is an error."""
    command = [sys.executable, "-m", "pytest", "-q", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT), "--color=no",
               "--nbval", "--nbval-sanitize-with", str(ROOT / "tests/notebooks/sanitize.cfg"),
               "--nbval-cell-timeout", "120", *options, str(notebook)]
    environment = {key: value for key, value in os.environ.items() if key != "DPLIB_EXPLORE" and not key.startswith("PYTEST_")}
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    output = process.stdout + process.stderr
    assert process.returncode in (0, 1), output
    summary = process.stdout.rstrip().rpartition("\n")[2]  # "3 passed, 1 failed in 2.10s"
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error)", summary)}
    return Result(counts.get("passed", 0), counts.get("failed", 0) + counts.get("error", 0), output)
