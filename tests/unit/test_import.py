"""Importing dplib is light, and every example in a docstring is true."""

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest

import dplib

HEAVY = ("scipy", "matplotlib", "ipywidgets", "IPython")
CORE = ("data", "queries", "mechanisms", "composition", "bounds")
MODULES = [m.name for m in pkgutil.walk_packages(dplib.__path__, "dplib.")]


def test_importing_the_core_imports_nothing_heavy():
    code = f"import sys, dplib, {', '.join('dplib.' + m for m in CORE)}; print([m for m in {HEAVY} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", [m for m in MODULES if m.split(".")[1] in CORE])
def test_every_public_function_has_an_example(name):
    module = importlib.import_module(name)
    public = [f for n, f in vars(module).items()
              if callable(f) and not n.startswith("_") and getattr(f, "__module__", None) == name]
    without = [f.__name__ for f in public if ">>>" not in (f.__doc__ or "")]
    assert set(without) <= {"Queries", "Allowance"}
