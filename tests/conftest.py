"""The claim mark and the witness fixture: how a test says which claim it witnesses, and what it measured.

    @pytest.mark.claim("thm-above-threshold-privacy", kind="tight")
    def test_worst_case_loss_is_close_to_epsilon(witness):
        witness("thm-above-threshold-privacy", measured=loss, bound=epsilon)

The measured numbers go to `_build/witness.json`, from which the claims index of the book prints them.
"""
import json
import math
import re
from pathlib import Path

import pytest

KINDS = ("oracle", "property", "bound", "tight", "can-fail")
LABEL = re.compile(r"(thm|lem|cor|prop)-[a-z0-9]+(-[a-z0-9]+)*")
RECORD = "_build/witness.json"
RECORDS, RAN = pytest.StashKey(), pytest.StashKey()  # {claim: {test id: numbers}}, and the tests that ran


def pytest_configure(config):
    config.addinivalue_line("markers", "claim(label, kind): the test witnesses the claim; kind is " + ", ".join(KINDS))
    config.stash[RECORDS] = {}
    config.stash[RAN] = set()


def claims_of(item):
    """The labels that a test's claim marks name; a mark that says it wrongly is an error of the run."""
    labels = []
    for mark in item.iter_markers("claim"):
        if len(mark.args) != 1 or not isinstance(mark.args[0], str) or not LABEL.fullmatch(mark.args[0]):
            raise pytest.UsageError(f"{item.nodeid}: the claim mark needs one label such as thm-laplace, got {mark.args}")
        if set(mark.kwargs) != {"kind"} or mark.kwargs["kind"] not in KINDS:
            raise pytest.UsageError(f"{item.nodeid}: the claim mark needs kind= one of {', '.join(KINDS)}, got {mark.kwargs}")
        labels.append(mark.args[0])
    return labels


def pytest_collection_modifyitems(items):
    for item in items:
        claims_of(item)


@pytest.fixture
def witness(request):
    """Records `witness(label, measured, bound)`; the largest ratio of a test is kept."""
    labels, records = claims_of(request.node), request.config.stash[RECORDS]

    def record(label, measured, bound):
        measured, bound = float(measured), float(bound)
        if label not in labels:
            raise ValueError(f"{request.node.nodeid} records {label} but its claim marks name {labels or 'nothing'}")
        if not (math.isfinite(measured) and math.isfinite(bound) and bound > 0):
            raise ValueError(f"witness of {label} needs finite numbers and a bound above 0, got {measured} and {bound}")
        if measured > 1.05 * bound:  # five per cent for the sampling error of what is estimated
            raise AssertionError(f"{label}: measured {measured} is above its bound {bound}")
        ratio, tests = measured / bound, records.setdefault(label, {})
        if ratio >= tests.get(request.node.nodeid, {"ratio": -math.inf})["ratio"]:
            tests[request.node.nodeid] = {"measured": measured, "bound": bound, "ratio": ratio}
        return ratio

    return record


def pytest_runtest_setup(item):
    item.config.stash[RAN].add(function_of(item.nodeid))


def function_of(nodeid):
    """A test's id without its parameters."""
    return nodeid.split("[")[0]


def merged(old, new, ran):
    """What earlier runs have recorded, without the tests that ran now, and what they have recorded now."""
    kept = {label: {test: numbers for test, numbers in tests.items() if function_of(test) not in ran}
            for label, tests in old.items()}
    for label, tests in new.items():
        kept[label] = kept.get(label, {}) | tests
    return {label: dict(sorted(tests.items())) for label, tests in sorted(kept.items()) if tests}


def pytest_sessionfinish(session):
    config = session.config
    if hasattr(config, "workeroutput"):  # a worker of pytest-xdist hands its part to the main process
        config.workeroutput["witness"] = {"records": config.stash[RECORDS], "ran": sorted(config.stash[RAN])}
    elif config.stash[RAN]:
        path = Path(config.rootpath) / RECORD
        old = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        new = merged(old, config.stash[RECORDS], config.stash[RAN])
        if new != old:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(new, indent=1) + "\n", encoding="utf-8")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    part = getattr(node, "workeroutput", {}).get("witness", {"records": {}, "ran": []})
    node.config.stash[RAN] |= set(part["ran"])
    for label, tests in part["records"].items():
        node.config.stash[RECORDS].setdefault(label, {}).update(tests)
