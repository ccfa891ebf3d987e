"""The book's Sphinx extension on a tiny book: it builds without a warning, and each rule fails on a wrong input."""
import io
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

WEBSITE = Path(__file__).resolve().parents[2] / "website"
sys.path.insert(0, str(WEBSITE))

CHAPTER = r"""# Sparse vector

{item}`SV-1` The problem; see {erratum}`E-1` and line {line}`AT-2`.

## The theorem

```{prf:algorithm} AboveThreshold
:label: alg-above

1. {line}`AT-1` draw
2. {line}`AT-2` compare
```

```{prf:theorem} Privacy at $\varepsilon$
:label: thm-above

It is $\varepsilon$-DP.
```

```{claim} thm-above
:algorithm: dplib.sparse.Above
:bound: dplib.bounds.above_loss
:source: 004:33-79; 003:56
:errata: E-1
:items: SV-5
```

```{prf:proof}
(1) By {prf:ref}`alg-above`.
```

## Errata

```{erratum} E-1 S
:source: 004:69-79
:claim: thm-above

The note has $e^{-1}$; see {prf:ref}`thm-above`.

$$ 1 \le e^{-1} $$
```
"""
SPARSE = '''"""Sparse vector <&> friends."""


class Above:
    """AboveThreshold as a stream; see E-1.

    Claim: thm-above
    """

    def __init__(self, threshold):
        self.noisy = threshold  # [AT-1]

    def ask(self, answer):
        return answer >= self.noisy  # [AT-2]
'''
BOUNDS = '''"""Right-hand sides."""


def above_loss(epsilon):
    """Claim: thm-above"""
    return epsilon
'''
TESTS = '''import pytest


@pytest.mark.claim("thm-above", kind="oracle")
@pytest.mark.claim("thm-above", kind="property")
def test_exact():
    pass


@pytest.mark.claim("thm-above", kind="bound")
def test_bound():
    pass


class TestTight:
    @pytest.mark.claim("thm-above", kind="tight")
    def test_tight(self):
        pass

    @pytest.mark.claim("thm-above", kind="can-fail")
    def test_halved_noise(self):
        pass
'''
INVENTORY = """
- {chapter: 6, title: "Chapter 6: sparse vector", finished: true, items: {SV-1: [The problem, "004:1"], SV-5: [Privacy, "004:33"]}}
- {chapter: 7, title: "Chapter 7: later", finished: false, items: {TR-1: [Queries, "003:11"]}}
"""
MEASURED = {"thm-above": {"tests/claims/test_sparse.py::test_exact[1]": {"measured": 0.9, "bound": 1.0, "ratio": 0.9},
                          "tests/claims/test_sparse.py::TestTight::test_tight": {"measured": 3.5, "bound": 4.0, "ratio": 0.875},
                          "tests/claims/test_sparse.py::test_gone": {"measured": 0.99, "bound": 1.0, "ratio": 0.99}}}


def as_notebook(text):
    """The chapter as a notebook with two markdown cells."""
    first, second = text.split("## Errata")
    cells = [{"cell_type": "markdown", "id": f"cell-{i}", "metadata": {}, "source": source}
             for i, source in enumerate([first, "## Errata" + second])]
    return json.dumps({"cells": cells, "metadata": {"kernelspec": {"name": "python3"}}, "nbformat": 4, "nbformat_minor": 5})


def page(title, directive):
    return f"# {title}\n\n```{{{directive}}}\n```\n"


class Book:
    """A tiny book in a folder."""

    def __init__(self, root):
        self.root = root
        self.write("index.md", "# Book\n\n```{toctree}\n:numbered:\none\n```\n\n```{toctree}\nclaims\nerrata\ncrosswalk\n```\n")
        self.write("one.md", CHAPTER)
        self.write("claims.md", page("Claims", "claims-index"))
        self.write("errata.md", page("All errata", "errata-list"))
        self.write("crosswalk.md", page("Crosswalk", "crosswalk"))
        self.write("dplib/__init__.py", "")
        self.write("dplib/sparse.py", SPARSE)
        self.write("dplib/bounds/__init__.py", "from dplib.bounds.above import *\n")
        self.write("dplib/bounds/above.py", BOUNDS)
        self.write("tests/claims/test_sparse.py", TESTS)
        self.write("website/inventory.yml", INVENTORY)
        self.write("_build/witness.json", json.dumps(MEASURED))

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def edit(self, name, old, new):
        text = (self.root / name).read_text(encoding="utf-8")
        assert old in text, f"{old!r} is not in {name}"
        self.write(name, text.replace(old, new))

    def build(self, builder="dummy"):
        """Builds, and returns the warnings, one a line."""
        warnings = io.StringIO()
        settings = {"extensions": ["myst_nb", "sphinx.ext.mathjax", "dpbook"], "exclude_patterns": ["_build", "website"],
                    "root_doc": "index", "nb_execution_mode": "off", "numfig": True, "html_theme": "basic", "nitpicky": True,
                    "myst_enable_extensions": ["dollarmath"], "math_numfig": True, "show_warning_types": True, "html_copy_source": False}
        with patch_docutils(), docutils_namespace():
            app = Sphinx(self.root, None, self.root / "_build" / builder, self.root / "_build" / "trees", builder,
                         confoverrides=settings, status=None, warning=warnings)
            app.build()
        return re.sub(r"\x1b\[\d*(;\d+)*m", "", warnings.getvalue()).strip().splitlines()

    def html(self, name):
        return (self.root / "_build/html" / f"{name}.html").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    monkeypatch.setenv("DPLIB_EXPLORE", "")  # the extension sets it: put it back afterwards


@pytest.fixture
def book(tmp_path):
    return Book(tmp_path)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    book = Book(tmp_path_factory.mktemp("book"))
    (book.root / "one.md").unlink()
    book.write("one.ipynb", as_notebook(CHAPTER))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPLIB_EXPLORE", "")
        book.warnings = book.build("html")
    return book


# --- each rule fails on a wrong input --------------------------------------------------------------------------

CLAIM = CHAPTER[CHAPTER.index("```{claim}"):CHAPTER.index("```{prf:proof}")]
PROOF = CHAPTER[CHAPTER.index("```{prf:proof}"):CHAPTER.index("## Errata")]
ERRATUM = CHAPTER[CHAPTER.index("```{erratum}"):]
RULES = {
    "statement without claim": ("one.md", CLAIM, "{item}`SV-5`\n\n", "unclaimed", "theorem 'thm-above' has no {claim}"),
    "claim without statement": ("one.md", "{claim} thm-above", "{claim} thm-below", "claim", "claim 'thm-below': this page has no theorem"),
    "claim on a definition": ("one.md", "{prf:theorem}", "{prf:definition}", "claim", "claim 'thm-above': this page has no theorem"),
    "claim given twice": ("one.md", CLAIM, CLAIM + CLAIM, "claim", "is given 2 times"),
    "no proof": ("one.md", PROOF, "", "proof", "has no {prf:proof}"),
    "proof of nothing": ("one.md", PROOF, PROOF + "```{prf:proof}\n:class: of-thm-below\nClear.\n```\n\n", "proof", "of 'thm-below'"),
    "no source": ("one.md", ":source: 004:33-79; 003:56\n", "", "source", "needs a :source:"),
    "no algorithm": ("one.md", ":algorithm: dplib.sparse.Above\n", "", "code", "names no :algorithm:"),
    "no bound": ("one.md", ":bound: dplib.bounds.above_loss\n", "", "code", "names no :bound:"),
    "algorithm not there": ("one.md", "dplib.sparse.Above", "dplib.sparse.Beneath", "code", "there is no dplib.sparse.Beneath"),
    "bound not there": ("dplib/bounds/above.py", "def above_loss", "def other_loss", "code", "there is no dplib.bounds.above_loss"),
    "bound not handed on": ("dplib/bounds/__init__.py", "import *", "import other", "code", "there is no dplib.bounds.above_loss"),
    "bound in another module": ("one.md", "dplib.bounds.above_loss", "dplib.sparse.Above.ask", "code", "is not in dplib.bounds"),
    "docstring of the bound": ("dplib/bounds/above.py", "Claim: thm-above", "Claim: none", "docstring", "docstring of dplib.bounds.above_loss does not say"),
    "docstring with a longer label": ("dplib/sparse.py", "thm-above", "thm-above-privacy", "docstring", "docstring of dplib.sparse.Above does not say"),
    "docstring names no claim": ("dplib/sparse.py", '        return answer', '        """See thm-below."""\n        return answer', "docstring", "names 'thm-below'"),
    "a kind of test is missing": ("tests/claims/test_sparse.py", 'kind="can-fail"', 'kind="tight"', "tests", "no test of kind can-fail"),
    "no test at all": ("tests/claims/test_sparse.py", TESTS, "", "tests", "no test of kind oracle, property, bound, tight, can-fail"),
    "test of an unknown claim": ("tests/claims/test_sparse.py", '"thm-above", kind="bound"', '"thm-below", kind="bound"', "tests", "test_bound witnesses 'thm-below'"),
    "mark of an unknown kind": ("tests/claims/test_sparse.py", 'kind="bound"', 'kind="other"', "mark", "kind one of oracle"),
    "mark without kind": ("tests/claims/test_sparse.py", ', kind="bound"', "", "mark", "kind one of oracle"),
    "mark that is not literal": ("tests/claims/test_sparse.py", '"thm-above", kind="bound"', 'LABEL, kind="bound"', "mark", "kind one of oracle"),
    "nothing measured": ("_build/witness.json", "thm-above", "thm-other", "ratio", "no test has recorded measured and bound"),
    "erratum not given": ("one.md", ":errata: E-1", ":errata: E-1 E-2", "erratum", "names erratum E-2, which is not given"),
    "erratum does not name the claim": ("one.md", ":claim: thm-above\n", "", "erratum", "erratum E-1 does not name 'thm-above'"),
    "claim does not name the erratum": ("one.md", ":errata: E-1\n", "", "erratum", "claim 'thm-above' does not name erratum E-1"),
    "erratum of an unknown claim": ("one.md", ":claim: thm-above\n", ":claim: thm-above thm-below\n", "erratum", "names 'thm-below'"),
    "erratum mentioned only": ("one.md", "see {erratum}`E-1`", "see {erratum}`E-3`", "erratum", "E-3 is mentioned but not given"),
    "erratum given twice": ("one.md", ERRATUM, ERRATUM + "\n" + ERRATUM, "erratum", "E-1 is given 2 times"),
    "item unknown": ("one.md", "{item}`SV-1`", "{item}`SV-1 SV-99`", "item", "item SV-99 is unknown"),
    "item of a claim unknown": ("one.md", ":items: SV-5", ":items: SV-5 SV-98", "item", "item SV-98 is unknown"),
    "item without place": ("one.md", "{item}`SV-1`", "", "item", "item SV-1 (The problem) has no place"),
    "line not in the code": ("dplib/sparse.py", "  # [AT-1]", "", "line", "line [AT-1] has no '# [AT-1]'"),
    "line not in the box": ("one.md", "1. {line}`AT-1` draw", "1. draw", "line", "the code has '# [AT-1]'"),
    "line in a string only": ("dplib/sparse.py", "threshold  # [AT-1]", "threshold, '# [AT-1]'", "line", "line [AT-1] has no"),
    "line in two modules": ("dplib/bounds/above.py", "return epsilon", "return epsilon  # [AT-1]", "line", "stands in more than one module"),
    "line given twice": ("one.md", "2. {line}`AT-2` compare", "2. {line}`AT-2` compare\n3. {line}`AT-2` again", "line", "stands in 2 places"),
    "line mentioned only": ("one.md", "and line {line}`AT-2`", "and line {line}`AT-3`", "line", "line [AT-3] is mentioned"),
}


@pytest.mark.parametrize("file, old, new, rule, message", RULES.values(), ids=RULES)
def test_a_broken_rule_is_a_warning(book, file, old, new, rule, message):
    book.edit(file, old, new)
    warnings = book.build()
    hits = [line for line in warnings if f"[dpbook.{rule}]" in line and message in line]
    assert hits, f"no such warning among {warnings}"
    assert all(re.match(r"\S+: WARNING: ", line) for line in hits), f"no place is named in {hits}"


def test_a_good_book_has_no_warning(book):
    assert book.build() == []


def test_a_label_may_be_a_constant_of_the_module(book):
    book.edit("tests/claims/test_sparse.py", '"thm-above"', "CLAIM")
    book.edit("tests/claims/test_sparse.py", "import pytest\n", 'import pytest\n\nCLAIM = "thm-above"\n')
    assert book.build() == []


def test_a_second_build_does_not_forget_a_failure(book):
    book.edit("tests/claims/test_sparse.py", 'kind="can-fail"', 'kind="tight"')
    assert book.build() == book.build() != []


def test_wrong_directives_are_errors(book):
    book.edit("one.md", "{erratum} E-1 S", "{erratum} E-1 X")
    assert any("kind of erratum E-1 is 'X'" in line for line in book.build())


# --- what the pages show -----------------------------------------------------------------------------------------


class Page(HTMLParser):
    """The ids of a page and its links."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes["href"]] if tag == "a" and "href" in attributes else []


def test_a_good_book_in_a_notebook_has_no_warning(built):
    assert built.warnings == []


def test_every_link_leads_somewhere_and_no_id_is_given_twice(built):
    root = built.root / "_build/html"
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in root.rglob("*.html")}
    names = {path.relative_to(root).as_posix() for path in pages}
    assert {"one.html", "claims.html", "code/dplib/sparse.html", "code/tests/claims/test_sparse.html"} <= names
    for path, found in pages.items():
        assert len(found.ids) == len(set(found.ids)), f"{path}: {sorted(i for i in found.ids if found.ids.count(i) > 1)}"
        for link in found.links:
            target, _, at = link.partition("#")
            if target.startswith("http"):
                continue
            page_ = (path.parent / target).resolve() if target else path
            assert page_ in pages, f"{path.name} links to {link}"
            assert not at or at in pages[page_].ids, f"{path.name} links to {link}"


def test_the_strip_leads_to_proof_code_bound_tests_errata_and_index(built):
    nav = re.search(r'<nav aria-label="([^"]*)" class="dp-claim".*?</nav>', built.html("one"), re.S)
    assert nav[1] == "Proof, code and tests of Theorem 1.1"
    links = Page(nav[0]).links
    tests = "code/tests/claims/test_sparse.html#"
    assert links[:8] == ["#proof-thm-above", "code/dplib/sparse.html#Above", "code/dplib/bounds/above.html#above_loss", tests + "test_exact",
                         tests + "test_exact", tests + "test_bound", tests + "TestTight.test_tight", tests + "TestTight.test_halved_noise"]
    assert links[8:10] == ["#erratum-e-1", "claims.html#claim-thm-above"]
    assert "lecture note 004, lines 33–79; 003, line 56" in nav[0]
    assert built.html("one").index('id="thm-above"') < nav.start() < built.html("one").index('id="proof-thm-above"')


def test_items_and_lines_have_anchors(built):
    ids = Page(built.html("one")).ids
    assert {"item-sv-1", "item-sv-5", "line-at-1", "line-at-2", "erratum-e-1"} <= set(ids)
    line = SPARSE.splitlines().index("        self.noisy = threshold  # [AT-1]") + 1
    assert f'href="code/dplib/sparse.html#L{line}">[AT-1]</a>' in built.html("one")


def test_the_index_shows_name_tests_and_the_largest_ratio_of_a_test_that_exists(built):
    text = built.html("claims")
    assert re.search(r'<h3><a class="reference internal" href="one.html#thm-above">Theorem 1.1 \(Privacy at <span class="math', text)
    assert "0.9 (0.9 / 1, test_exact[1])" in text
    assert "0.99" not in text  # test_gone is not in the sources
    assert "mathjax" in text.lower()  # the title has a formula, so the page needs it


def test_without_measurements_the_index_says_so(book):
    (book.root / "_build/witness.json").unlink()
    assert book.build("html") == []
    assert "not measured in this build" in book.html("claims")


def test_the_errata_page_holds_the_text_with_links_from_there(built):
    text = built.html("errata")
    assert "slip; lecture note 004, lines 69–79; on " in text
    assert text.count('href="one.html#thm-above"') == 2 and 'href="one.html#erratum-e-1"' in text
    assert r"1 \le e^{-1}" in text  # a displayed formula comes along


def test_the_crosswalk_shows_places_and_what_is_to_come(built):
    text = re.sub(r"\s+", " ", built.html("crosswalk"))
    assert 'href="one.html#item-sv-1">1 Sparse vector</a>' in text and 'href="one.html#item-sv-5">Theorem 1.1</a>' in text
    assert "comes with chapter 7" in text and "comes with chapter 6" not in text


def test_source_pages_link_back_to_the_chapter(built):
    code, tests = built.html("code/dplib/sparse"), built.html("code/tests/claims/test_sparse")
    assert 'Claim: <a class="dp-back" href="../../one.html#thm-above">thm-above</a>' in code
    assert 'href="../../one.html#line-at-1">[AT-1]</a>' in code and 'href="../../one.html#erratum-e-1">E-1</a>' in code
    assert 'href="../../../one.html#thm-above">thm-above</a>' in tests
    assert "&lt;&amp;&gt; friends" in code
    assert {"L1", "Above", "Above.ask"} <= set(Page(code).ids)


def test_a_proof_can_name_its_statement(book):
    lemma = CHAPTER[CHAPTER.index("```{prf:theorem}"):CHAPTER.index("```{claim}")].replace("thm-above", "lem-above").replace("{prf:theorem}", "{prf:lemma}")
    claim = CLAIM.replace("thm-above", "lem-above").replace(":errata: E-1\n", "").replace(":items: SV-5\n", "")
    book.edit("one.md", CLAIM, CLAIM + lemma + claim)
    assert any("claim 'thm-above' has no {prf:proof}" in line for line in book.build())  # the proof goes to the nearest statement
    book.edit("one.md", PROOF, PROOF + PROOF.replace("```{prf:proof}\n", "```{prf:proof}\n:class: of-thm-above\n"))
    assert not any("[dpbook.proof]" in line for line in book.build())


def test_chapters_are_numbered_by_their_file_name(book):
    text = CHAPTER.replace("```{prf:proof}", "```{prf:definition} Two\n:label: def-two\n\nTwo.\n```\n\n```{prf:proof}")
    book.write("06-one.md", text.replace("## Errata", "$$\na = b\n$$ (eq-a)\n\nSee {eq}`eq-a`.\n\n## Errata"))
    (book.root / "one.md").unlink()
    book.edit("index.md", "one\n", "06-one\n")
    assert book.build("html") == []
    page_ = book.html("06-one")
    assert "Theorem 6.1" in page_ and "Definition 6.1" in page_ and "Theorem 1.1" not in page_
    assert re.search(r'href="#equation-eq-a">\(?6\.1', page_), "equation numbers follow the chapter too"
    assert "Theorem 6.1" in book.html("claims") and "Theorem 6.1" in book.html("crosswalk")


# --- incremental and parallel builds -----------------------------------------------------------------------------


def test_pages_are_written_again_only_when_what_they_show_has_changed(book, monkeypatch):
    import dpbook
    again, check_book = [], dpbook.check_book
    monkeypatch.setattr(dpbook, "check_book", lambda app, env: again.append(check_book(app, env)) or again[-1])
    book.build("html")
    book.build("html")
    assert sorted(again[0]) == ["claims", "crosswalk", "errata", "one"] and again[1] == []
    book.edit("dplib/sparse.py", "class Above", "\nclass Above")
    line = (book.root / "dplib/sparse.py").read_text().splitlines().index("        self.noisy = threshold  # [AT-1]") + 1
    assert book.build("html") == []
    assert f"code/dplib/sparse.html#L{line}" in book.html("one")
    book.edit("one.md", "The note has", "The note prints")
    assert book.build("html") == []
    assert "The note prints" in book.html("errata")


def test_a_removed_page_takes_its_records_along(book):
    book.write("two.md", "# Two\n\n{item}`SV-1`\n")
    book.edit("index.md", "one\n", "one\ntwo\n")
    book.edit("one.md", "{item}`SV-1`", "")
    assert book.build() == []
    (book.root / "two.md").unlink()
    book.edit("index.md", "one\ntwo\n", "one\n")
    assert any("item SV-1 (The problem) has no place" in line for line in book.build())


def test_records_of_a_parallel_reader_are_merged():
    from dpbook.records import BookDomain, Records

    domain = object.__new__(BookDomain)
    domain.data = {"pages": {"one": Records()}}
    other = Records(items=[("SV-1", None)])
    domain.merge_domaindata(["two"], {"pages": {"two": other, "one": other}})
    assert domain.data["pages"] == {"one": Records(), "two": other}


def test_print_and_latex_keep_the_text(book):
    for builder in ("singlehtml", "latex"):
        assert [line for line in book.build(builder) if "dpbook" in line] == []
    assert "above_loss" in (book.root / "_build/singlehtml/index.html").read_text()


def test_notebooks_are_executed_with_the_static_form_of_figures(book, monkeypatch):
    import os
    monkeypatch.delenv("DPLIB_EXPLORE")
    book.build()
    assert os.environ["DPLIB_EXPLORE"] == "static"
