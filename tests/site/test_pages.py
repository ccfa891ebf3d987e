"""Every page of the built site: whole, self-contained, typeset, accessible, and with sliders that move."""

import checks
import pytest

DESKTOP, PHONE = (1280, 900), (390, 844)
MODES = [(scheme, size) for scheme in ("light", "dark") for size in (DESKTOP, PHONE)]
NAMES = [f"{scheme}-{'desktop' if size == DESKTOP else 'phone'}" for scheme, size in MODES]


def test_nothing_is_loaded_from_another_host(documents):
    outside = {page: found for page, document in documents.items() if (found := checks.external_loads(document))}
    assert not outside


def test_every_internal_link_and_anchor_resolves(site, documents):
    assert checks.dead_links(site, documents) == []


def test_every_image_says_what_it_shows(documents):
    nameless = {page: document.nameless_images for page, document in documents.items() if document.nameless_images}
    assert not nameless


def test_an_anchor_names_one_place(documents):
    repeated = {page: document.repeated_ids for page, document in documents.items() if document.repeated_ids}
    assert not repeated


@pytest.mark.parametrize("scheme, size", MODES, ids=NAMES)
def test_page(visit, root, path, scheme, size):
    """One load for each mode; all faults of the page are reported together."""
    seen = visit(f"{root}/{path}", scheme, size)
    faults = [*seen.mathematics(), *seen.sideways(), *seen.accessibility()]
    if size == DESKTOP and scheme == "light":
        faults += [*checks.sliders(seen), *checks.games(seen)]
    assert [*seen.faults, *faults] == []


def test_page_opened_as_a_file(visit, site, path):
    seen = visit((site / path).as_uri())
    assert [*seen.mathematics(), *checks.sliders(seen), *checks.games(seen), *seen.faults] == []


def test_a_slider_can_be_moved_at_phone_width(visit, root, documents, site):
    """On the first page that has one: there is at least one such page."""
    with_figure = [page for page in documents if '<figure class="dplib-figure dplib-explore"' in (site / page).read_text("utf-8")]
    assert with_figure, "no page of the site has a slider figure"
    assert checks.sliders(visit(f"{root}/{with_figure[0]}", "dark", PHONE)) == []


@pytest.mark.parametrize("where", ["served", "file"])
def test_the_root_sends_on_to_the_front_page(browser, root, site, where):
    with browser.new_page() as page:
        page.goto(f"{root}/" if where == "served" else (site / "index.html").as_uri())
        page.wait_for_url("**/chapters/index.html", timeout=10_000)


def test_search_finds_a_page(visit, root):
    seen = visit(f"{root}/search.html?q=privacy")
    seen.page.wait_for_selector("#search-results li a", timeout=10_000)
    assert seen.faults == []


def test_colour_mode_can_be_switched(visit, root):
    seen = visit(f"{root}/chapters/index.html")
    button = seen.page.get_by_role("button", name="Colour mode").first
    themes = set()
    for _ in range(3):
        button.click()
        themes.add(seen.page.evaluate("document.documentElement.dataset.theme"))
    assert themes == {"light", "dark"}


def test_every_notebook_can_be_downloaded(site, documents):
    """Each page made from a notebook links to that notebook."""
    without = [
        page
        for page, document in documents.items()
        if (site / "_sources" / page).with_suffix(".ipynb").is_file() and not any(".ipynb" in link for link in document.links)
    ]
    assert not without
