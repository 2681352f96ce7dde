"""The page in a browser, by Playwright with the system's Chromium; left out where either is not there."""

import asyncio
import contextlib
import json
import shutil
import threading
from pathlib import Path

import pytest

from simtmm.explorer.start import start

pytest.importorskip("tornado")
playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")

OWN = ("http://127.0.0.1:", "data:", "blob:")
STRIDED = "k=copy&m=classroom&p.n=2048&p.pattern=stride"
BACK = "text => { history.replaceState(null, '', '?' + text); dispatchEvent(new PopStateEvent('popstate')); }"
PATIENCE = 120_000  # milliseconds, on a busy machine


@pytest.fixture(scope="module")
def address():
    """Of a server in a thread of its own."""
    from simtmm.explorer.server import Server

    begun = start("copy", "classroom", {"n": 2048})
    told = {}
    there = threading.Event()

    async def serve():
        told["server"] = Server(begun)
        told["loop"], told["end"] = asyncio.get_running_loop(), asyncio.Event()
        there.set()
        await told["end"].wait()
        await told["server"].close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert there.wait(PATIENCE)
    yield told["server"].address
    told["loop"].call_soon_threadsafe(told["end"].set)
    thread.join()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def opened(browser, address):
    """Open a page at a state, and wait for its picture; at the end nothing was asked of elsewhere or went wrong."""
    context = browser.new_context(viewport={"width": 1300, "height": 1000})
    context.set_default_timeout(PATIENCE)
    wrong = []

    def open_(state=""):
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(OWN) else wrong.append(request.url))
        page.goto(f"{address}?{state}" if state else address)
        settled(page)
        return page

    yield open_
    context.close()
    assert wrong == []


def settled(page):
    """Wait until the newest state is drawn, curve and all."""
    page.wait_for_function(
        """() => {
            const now = document.getElementById('page').dataset;
            return now.answered && now.answered === now.painted && now.curve === now.painted;
        }"""
    )


def moved(page, action):
    """Do it, and wait for the picture and curve of it."""
    before = page.evaluate("document.getElementById('page').dataset.painted")
    action()
    page.wait_for_function(f"() => document.getElementById('page').dataset.painted !== '{before}'")
    settled(page)


def cycles(page):
    return page.locator(".headline .time").first.inner_text()


def test_every_control_moves_the_picture_and_the_address_brings_it_back(opened):
    page = opened(STRIDED)
    own = cycles(page)
    controls = page.locator(".controls [data-control]")
    names = [controls.nth(place).get_attribute("data-control") for place in range(controls.count())]
    assert {"latency", "threads", "bandwidth", "groups", "cores", "chunk", "width", "l1", "l2"} < set(names)
    assert {"scheduler", "switch", "p.pattern", "p.stride", "p.threads"} < set(names)
    for name in names:
        control = page.locator(f'.controls [data-control="{name}"]')
        if control.evaluate("c => c.tagName") == "SELECT":
            other = control.evaluate("c => [...c.options].find(o => !o.selected)?.value")
            moved(page, lambda control=control, other=other: control.select_option(other))
        else:
            key = "ArrowRight" if control.evaluate("c => +c.value < +c.max") else "ArrowLeft"
            moved(page, lambda control=control, key=key: control.press(key))  # by the keyboard
        if not page.locator(".failed").is_visible():
            page.wait_for_function(f"() => new URLSearchParams(location.search).get('drag') === '{name}'")
        moved(page, lambda: page.evaluate(BACK, STRIDED))
        assert cycles(page) == own, name


def test_a_link_opens_the_same_state_again(opened):
    page = opened("k=copy&m=classroom&p.n=2048")
    slider = page.locator('[data-control="latency"]')
    moved(page, lambda: slider.press("End"))
    page.wait_for_function("() => new URLSearchParams(location.search).get('latency') === '6400'")
    again = opened(page.url.partition("?")[2])
    assert cycles(again) == cycles(page)
    assert again.locator('[data-control="latency"]').input_value() == slider.input_value()


def test_two_configurations_stand_side_by_side(opened):
    page = opened("k=copy&m=classroom&p.n=2048&latency=800")
    moved(page, lambda: page.get_by_role("button", name="Compare with the unmodified machine").click())
    assert page.locator(".headline .time").count() == 2
    assert "times as long as A" in page.locator(".headline .ratio").inner_text()
    assert {"A", "B"} <= set(page.locator(".stalls svg > text").all_text_contents())
    moved(page, lambda: page.get_by_role("button", name="Swap A and B").click())
    moved(page, lambda: page.get_by_role("button", name="Drop B").click())
    assert page.locator(".headline .time").count() == 1


def test_what_can_t_be_is_said_and_the_page_lives_on(opened):
    page = opened("k=copy&m=classroom&p.n=2048")
    exact = page.get_by_label("Room for threads a core, X, exactly")
    exact.fill("2")
    exact.press("Enter")
    page.locator(".failed").wait_for(state="visible")
    assert "does not fit" in page.locator(".failed").inner_text()
    moved(page, lambda: page.get_by_role("button", name="Reset all").click())
    assert not page.locator(".failed").is_visible()


def test_stories_open_and_show(opened):
    page = opened("k=copy&m=classroom&p.n=2048")
    moved(page, lambda: page.get_by_label("Story", exact=True).first.select_option("bank-conflicts"))
    story = page.locator(".story")
    assert "32 banks" in story.inner_text()
    moved(page, lambda: story.get_by_role("button", name="Show").first.click())
    assert page.locator(".headline .time").count() == 2
    assert story.is_visible()


def test_the_timeline_is_stepped_zoomed_and_played(opened):
    page = opened("k=copy&m=classroom&p.n=2048")
    told, canvas = page.locator(".told"), page.locator(".timeline canvas")
    canvas.focus()
    first = told.inner_text()
    canvas.press(".")
    page.wait_for_function(f"() => document.querySelector('.told').textContent !== {json.dumps(first)}")
    canvas.press("+")
    canvas.press("ArrowRight")
    canvas.press("0")
    before = told.inner_text()
    canvas.press(" ")
    page.wait_for_function(f"() => document.querySelector('.told').textContent !== {json.dumps(before)}")
    canvas.press(" ")
    assert "Play" in page.locator(".timeline").inner_text()


@pytest.mark.parametrize("kind", ["SVG", "PNG"])
def test_pictures_are_saved(opened, kind, tmp_path):
    page = opened("k=copy&m=classroom&p.n=2048")
    for name in ("Time over the value that you drag", "Where the time goes", "Warps of one group", "Roofline"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"{name}: save as {kind}").click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        content = Path(path).read_bytes()
        assert content.startswith(b"<svg" if kind == "SVG" else b"\x89PNG")
        assert b"var(--" not in content


def test_save_has_the_three_texts(opened):
    page = opened("k=copy&m=classroom&p.n=2048&latency=77")
    page.get_by_role("button", name="Save \u2026").click()
    texts = [page.locator("dialog textarea").nth(place).input_value() for place in range(3)]
    assert 'program = "copy"' in texts[0]
    assert "memory.latency=77" in texts[1]
    assert "simtmm.run('copy', machine" in texts[2]


def test_200_moves_in_a_row_leave_the_last_one_s_picture_and_no_memory(opened):
    page = opened("k=copy&m=classroom&p.n=2048")
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.enable")

    def heap():
        session.send("HeapProfiler.collectGarbage")
        return session.send("Runtime.getHeapUsage")["usedSize"]

    def drag(moves):
        page.evaluate(
            """async moves => {
                const slider = document.querySelector('[data-control="latency"]');
                for (let i = 0; i < moves; i += 1) {
                    slider.value = i % 200;
                    slider.dispatchEvent(new Event('input', { bubbles: true }));
                    await new Promise(done => setTimeout(done, 4));
                }
            }""",
            moves,
        )
        settled(page)

    drag(20)
    before, nodes = heap(), page.evaluate("document.querySelectorAll('*').length")
    drag(200)
    slider = page.get_by_label("Latency of memory, L, exactly")
    last = slider.input_value()
    page.wait_for_function(f"() => new URLSearchParams(location.search).get('latency') === '{last}'")
    assert heap() - before < 2_000_000  # bytes: a picture's data are a tenth of it, and 200 pictures ten times it
    assert page.evaluate("document.querySelectorAll('*').length") < 1.5 * nodes
    assert cycles(opened(f"k=copy&m=classroom&p.n=2048&latency={last}")) == cycles(page)


def test_two_pages_at_once_have_their_own(opened):
    one, other = opened("k=copy&m=classroom&p.n=2048&latency=100"), opened("k=copy&m=classroom&p.n=2048&latency=2000")
    moved(one, lambda: one.locator('[data-control="latency"]').press("ArrowRight"))
    assert cycles(one) != cycles(other)


@pytest.mark.parametrize("width", [1300, 390])
def test_it_fits_its_window_in_light_and_dark(opened, width):
    page = opened("k=copy&m=classroom&p.n=2048&latency=800&b.latency=100&b.p.n=2048")
    page.set_viewport_size({"width": width, "height": 900})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(f"() => document.getElementById('page').dataset.theme === '{scheme}'")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    unnamed = page.evaluate(
        """[...document.querySelectorAll('button, input, select, canvas')].filter(
            e => !(e.getAttribute('aria-label') || e.labels?.length || e.textContent.trim())).length"""
    )
    assert unnamed == 0


def test_a_server_that_has_ended_is_told(browser):
    from simtmm.explorer.server import Server

    begun = start("copy", "classroom", {"n": 2048})
    told, there = {}, threading.Event()

    async def serve():
        told["server"], told["loop"], told["end"] = Server(begun), asyncio.get_running_loop(), asyncio.Event()
        there.set()
        await told["end"].wait()
        await told["server"].close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    there.wait()
    with contextlib.closing(browser.new_context()) as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.goto(told["server"].address)
        settled(page)
        told["loop"].call_soon_threadsafe(told["end"].set)
        page.locator(".failed").wait_for(state="visible")
        assert "The server has ended" in page.locator(".failed").inner_text()
    thread.join()


def test_keys_work_wherever_the_focus_is(opened):
    page = opened()
    moved(page, lambda: page.keyboard.press("b"))  # nothing has the focus
    assert page.locator("b.side").count() == 2
    page.locator("input[type=range]").first.focus()
    moved(page, lambda: page.keyboard.press("r"))
    page.locator("input[type=number]").first.focus()
    page.keyboard.press("s")  # letters are typed there
    assert not page.evaluate("() => document.querySelector('dialog').open")
    page.locator("h1").click()
    page.keyboard.press("s")
    assert page.evaluate("() => document.querySelector('dialog').open")


def test_numbers_of_another_program_are_grey_until_its_own_are_there(opened):
    page = opened()
    page.evaluate("""() => {
        window.seen = [];
        new MutationObserver(() => seen.push(document.getElementById('page').classList.contains('stale')))
            .observe(document.getElementById('page'), { attributeFilter: ['class'] });
    }""")
    moved(page, lambda: page.locator("select[data-control=k]").select_option("vector-add"))
    assert page.evaluate("() => [seen[0], seen[seen.length - 1]]") == [True, False]


def test_a_theme_is_kept_and_goes_with_the_page_that_explains(opened):
    page = opened()
    page.keyboard.press("d")
    theme = page.evaluate("() => document.getElementById('page').dataset.theme")
    page.reload()
    settled(page)
    assert page.evaluate("() => document.getElementById('page').dataset.theme") == theme
    assert page.locator("a.explained").get_attribute("href").endswith(f"#{theme}")
    with page.context.expect_page() as other:
        page.locator("a.explained").click()
    other.value.wait_for_load_state()
    assert other.value.evaluate("() => document.documentElement.dataset.theme") == theme


def test_reasons_of_a_group_differ_in_shade(opened):
    page = opened("k=copy&m=a100-80&p.n=4096")
    fills = page.evaluate(
        "() => [...document.querySelectorAll('.reasons .swatch')].map((each) => each.getAttribute('style'))"
    )
    assert len(fills) >= 2
    assert len(set(fills)) == len(fills)
