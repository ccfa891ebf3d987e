"""The claim mark and the witness fixture of tests/conftest.py, on small test files in a folder of their own."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
GOOD = """
import pytest

@pytest.mark.claim("thm-one", kind="tight")
@pytest.mark.parametrize("measured", [1, 3, 2])
def test_tight(witness, measured):
    assert witness("thm-one", measured, 4) == measured / 4

@pytest.mark.claim("thm-one", kind="bound")
@pytest.mark.claim("lem-two", kind="bound")
def test_both(witness):
    witness("lem-two", 1, 8)
    witness("lem-two", 1, 2)
    witness("lem-two", 1, 4)
"""


class Folder:
    def __init__(self, root):
        self.root = root
        shutil.copy(TESTS / "conftest.py", root / "conftest.py")
        (root / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")

    def run(self, text, *options):
        (self.root / "test_file.py").write_text(text)
        process = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options], cwd=self.root,
                                 env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, capture_output=True, text=True, timeout=120)
        return process.returncode, process.stdout + process.stderr

    def record(self):
        """{claim: {test: ratio}} as the claims index will find it."""
        record = json.loads((self.root / "_build/witness.json").read_text())
        return {claim: {test.partition("::")[2]: numbers["ratio"] for test, numbers in tests.items()} for claim, tests in record.items()}


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


ALL = {"lem-two": {"test_both": 0.5}, "thm-one": {"test_tight[1]": 0.25, "test_tight[2]": 0.5, "test_tight[3]": 0.75}}


def test_each_test_records_its_largest_ratio(folder):
    code, output = folder.run(GOOD)
    assert code == 0, output
    assert folder.record() == ALL


def test_workers_hand_their_records_to_the_main_process(folder):
    code, output = folder.run(GOOD, "-p", "xdist", "-n", "2")
    assert code == 0, output
    assert folder.record() == ALL


def test_a_later_run_replaces_what_it_ran_and_keeps_the_rest(folder):
    folder.run(GOOD)
    folder.run(GOOD.replace("[1, 3, 2]", "[2]"), "-k", "tight")
    assert folder.record() == {"lem-two": {"test_both": 0.5}, "thm-one": {"test_tight[2]": 0.5}}


def test_a_test_that_records_no_more_leaves_no_old_number(folder):
    folder.run(GOOD)
    folder.run(GOOD.replace("assert witness", "assert 1 or witness"))
    assert folder.record() == {"lem-two": {"test_both": 0.5}}


@pytest.mark.parametrize("old, new, message", [
    ('"lem-two", kind="bound"', '"lem-two", kind="upper"', "needs kind= one of oracle"),
    ('"lem-two", kind="bound"', '"lem-two"', "needs kind= one of oracle"),
    ('"lem-two", kind="bound"', '"lem two", kind="bound"', "needs one label"),
    ('"lem-two", kind="bound"', 'kind="bound"', "needs one label"),
    ('witness("lem-two", 1, 8)', 'witness("lem-three", 1, 8)', "records lem-three but its claim marks name"),
    ('witness("lem-two", 1, 8)', 'witness("lem-two", 1, 0)', "a bound above 0"),
    ('witness("lem-two", 1, 8)', 'witness("lem-two", 9, 8)', "above its bound"),
    ('witness("lem-two", 1, 8)', 'witness("lem-two", float("nan"), 1)', "finite numbers"),
])
def test_wrong_marks_and_records_fail(folder, old, new, message):
    assert old in GOOD
    code, output = folder.run(GOOD.replace(old, new))
    assert code != 0 and message in output, output


def test_the_extension_and_the_tests_know_the_same_kinds():
    sys.path.insert(0, str(TESTS.parent / "website"))
    from dpbook.sources import KINDS

    assert f"KINDS = {json.dumps(KINDS).replace('[', '(').replace(']', ')')}" in (TESTS / "conftest.py").read_text()
