"""The game that a reader plays: the page carries the numbers of the theorem, exactly where a tie depends on them."""

import html as escaping
import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from math import log

import numpy as np
import pytest

from dplib.player import OPENING, play

WORDS = {"caption": "A < B & C", "alt": 'It "falls"', "name": "fig-test"}
ROLES = ["adversary", "forecaster"]


def make(role="adversary", **more):
    return play(role=role, **{**WORDS, **more})


def page(role="adversary", **more):
    """The page as the book's build writes it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPLIB_EXPLORE", "static")
        return make(role, **more)._repr_mimebundle_()["text/html"]


def data(*arguments, **more):
    return json.loads(re.search(r'class="dx-data">(.*?)</script>', page(*arguments, **more), re.S)[1])


@pytest.mark.parametrize("role", ROLES)
def test_weights_are_whole_numbers_in_the_exact_ratio(role):
    """w after k mistakes is to w after none as (1-η)^k to 1, without rounding: the script's sums are then exact."""
    sent = data(role, penalty=[0.1, 0.375, 0.5], rounds=25)
    assert sent["penalties"] == ["0.1", "0.375", "0.5"] and sent["start"] == 2
    for game in sent["games"]:
        for eta, table in zip([Fraction(1, 10), Fraction(3, 8), Fraction(1, 2)], game["tables"], strict=True):
            weights = [int(w) for w in table["weights"]]
            assert [Fraction(w, weights[0]) for w in weights] == [(1 - eta) ** k for k in range(26)]


@pytest.mark.parametrize("role", ROLES)
def test_bound_and_envelopes_are_those_of_the_theorem(role):
    """mist <= (OPT ln(1/(1-η)) + ln N) / ln(2/(2-η)), and (1-η)^OPT <= W <= N(1-η/2)^mist, written out here once more."""
    for game in data(role, penalty=[0.1, 0.4], start=0.4, rounds=25)["games"]:
        for eta, table in zip([0.1, 0.4], game["tables"], strict=True):
            N, k = game["experts"], np.arange(26)
            np.testing.assert_allclose(table["bound"], (k * log(1 / (1 - eta)) + log(N)) / log(2 / (2 - eta)), rtol=1e-8)
            np.testing.assert_allclose(table["lower"], (1 - eta) ** k, rtol=1e-5)
            np.testing.assert_allclose(table["upper"], N * (1 - eta / 2) ** k, rtol=1e-5)
            np.testing.assert_allclose([float(w) for w in table["said"]], table["bound"], rtol=6e-3)
            np.testing.assert_allclose([float(w) for w in table["shown"]], (1 - eta) ** k, rtol=6e-3)


def test_text_is_a_scripted_game():
    """Heaviest-first by hand, N = 4, η = 1/2: 1100 wrong, then 0011 after a tie, and so on; a best expert errs every second round."""
    text = repr(make(experts=4, rounds=7))
    assert text == "heaviest-first adversary, 4 experts, penalty 0.5, 7 rounds: 7 <= 12 (1.7x slack) with OPT = 3"
    assert f"{OPENING} rounds" in repr(make()) and repr(make()) == repr(make())


def test_forecasters_sequence_has_one_good_expert_and_a_bad_plain_majority():
    """The default game can be won by trusting, and is lost by counting heads."""
    nature = make("forecaster").natures[0]
    wrong = np.sort((nature.advice != nature.outcomes[:, None]).sum(axis=0))
    plain = nature.advice.sum(axis=1) > 3
    assert nature.advice.shape == (30, 6) and list(wrong[:2]) == [2, 14]
    assert (plain != nature.outcomes).sum() == 17
    assert repr(make("forecaster")) == "one expert is good, 6 experts, penalty 0.5, 30 rounds: 5 <= 11 (2.2x slack) with OPT = 2"
    sent = data("forecaster")["games"][0]
    assert [[c == "U" for c in row] for row in sent["advice"]] == nature.advice.tolist()
    assert [c == "U" for c in sent["outcomes"]] == nature.outcomes.tolist()


def test_contradicting_nature_has_two_constant_experts():
    game = data("forecaster", rounds=9)["games"][1]
    assert game["experts"] == 2 and game["advice"] == ["UD"] * 9 and game["outcomes"] is None


@pytest.mark.parametrize("wrong, said", [
    ({"role": "nature"}, "role must be 'adversary' or 'forecaster', got 'nature'"),
    ({"experts": 1}, "experts must be an integer >= 2, got 1"),
    ({"experts": 13}, "experts must be at most 12 to be seen at once, got 13"),
    ({"experts": 6.0}, "experts must be an integer"),
    ({"rounds": 0}, "rounds must be an integer >= 1, got 0"),
    ({"rounds": 101}, "rounds must be at most 100, got 101"),
    ({"penalty": 0.5}, "penalty must be a list of values of η, got 0.5"),
    ({"penalty": []}, "penalty must be a list of different values in increasing order, got []"),
    ({"penalty": [0.5, 0.1]}, "in increasing order, got [0.5, 0.1]"),
    ({"penalty": [0.5, 0.5]}, "different values"),
    ({"penalty": [0.5, 1]}, "penalty must be in the open interval (0, 1), got 1"),
    ({"penalty": [0, 0.5]}, "penalty must be in the open interval (0, 1), got 0"),
    ({"penalty": [1 / 3, 0.5]}, "at most three decimals (ties are compared exactly), got 0.3333333333333333"),
    ({"start": 0.3}, "start must be one of the penalties [0.1, 0.25, 0.5, 0.75], got 0.3"),
    ({"caption": None}, "play needs caption="),
    ({"alt": " "}, "play needs alt="),
])
def test_bad_arguments_are_named(wrong, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        make(**wrong)


@pytest.mark.parametrize("role", ROLES)
def test_texts_are_escaped_and_nobody_is_asked(role):
    text = page(role)
    assert text.count("A &lt; B &amp; C</figcaption>") == 1 and text.count(escaping.escape('It "falls"')) == 2
    assert 'data-name="fig-test"' in text and '<noscript><img src="data:image/png;base64,' in text
    assert not re.search(r'(?:src|href)="(?!data:)', text) and "@import" not in text and "url(http" not in text
    assert re.findall(r"https?://[^\"' )]+", text) == ["http://www.w3.org/2000/svg"]  # a name, not an address
    assert text.count("</script>") == 2 and len(text.encode()) < 70_000


def test_same_call_same_page_and_id_is_a_hash_of_content():
    ids = {re.search(r'id="(pl-[0-9a-f]{10})"', page(**more))[1]
           for more in ({}, {}, {"alt": "other"}, {"name": "fig-2"}, {"caption": "other"}, {"rounds": 9}, {"experts": 5})}
    assert len(ids) == 6 and page() == page()


def test_same_page_in_another_process():
    """No order of a set, no address, no clock."""
    code = "import sys; sys.path[:0] = sys.argv[1:]; from test_player import page; sys.stdout.buffer.write(page('forecaster').encode())"
    here = os.path.dirname(__file__)
    out = subprocess.run([sys.executable, "-c", code, here, os.path.dirname(os.path.dirname(here))], capture_output=True, check=True,
                         env={**os.environ, "PYTHONHASHSEED": "7"}).stdout
    assert out.decode() == page("forecaster")


def test_book_gets_page_and_picture(monkeypatch):
    import base64

    monkeypatch.setenv("DPLIB_EXPLORE", "static")
    bundle = make()._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "image/png"} and bundle["text/plain"] == repr(make())
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")


def test_kernel_gets_the_same_page_in_a_widget(monkeypatch):
    """A notebook then stores the sentence and not the page; nbval compares that sentence."""
    import ipywidgets

    made = []

    class Kept(ipywidgets.Output):
        def __init__(self, **traits):
            super().__init__(**traits)
            made.append(self)

    monkeypatch.delenv("DPLIB_EXPLORE", raising=False)
    monkeypatch.setattr(ipywidgets, "Output", Kept)
    bundle = make()._repr_mimebundle_()
    assert bundle.pop("application/vnd.jupyter.widget-view+json")["model_id"] == made[0].model_id
    assert bundle == {"text/plain": repr(make())}
    (shown,) = made[0].outputs
    assert shown["data"] == {"text/html": page()}


def test_without_widgets_the_page_itself_is_shown(monkeypatch):
    monkeypatch.delenv("DPLIB_EXPLORE", raising=False)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert make()._repr_mimebundle_() == {"text/plain": repr(make()), "text/html": page()}
