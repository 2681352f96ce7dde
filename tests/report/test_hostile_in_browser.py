"""Names that a stranger chose are text to a browser as well: on no page of ours do they run a script or ask for a file.

What each name tries sets `window.ran`, asks this computer for a file, or opens a dialog.
"""

import asyncio
import threading
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest

from simtmm.report.explain_page import explanation
from simtmm.report.page import Table, page
from tests.report.browser import CHROMIUM, PATIENCE, Browser
from tests.report.test_hostile_names import named

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")

ELSEWHERE = "http://127.0.0.1:9/"
NAMES = {
    "elements": (
        f'</script></style></title></textarea><script>window.ran=1</script><img src="{ELSEWHERE}i" onerror="ran=1">'
        f"<svg onload=window.ran=1><link rel=stylesheet href={ELSEWHERE}l><iframe src={ELSEWHERE}f></iframe><!--"
    ),
    "attributes": f"\" autofocus onfocus=\"ran=1\" style=\"background:url({ELSEWHERE}s)\" x='' onerror='ran=1' src='x",
    "svg": (
        "]]></text><svg xmlns='http://www.w3.org/2000/svg' onload='ran=1'><script>ran=1</script>"
        f"<image href='{ELSEWHERE}p' onerror='ran=1'/><foreignObject><body onload='ran=1'/></foreignObject></svg>"
    ),
    "scripts": (
        "'-(window.ran=1)-'\"-(window.ran=1)-\"`${window.ran=1}`\\u003cscript\\u003eran=1//\u2028ran=1\u2029*/ran=1/*"
    ),
    "addresses": f"javascript:window.ran=1//{ELSEWHERE}a?&k=../../etc/passwd#<img src=x onerror=ran=1>",
}
# What of a page could begin something when it is used
LIVE = """[...document.querySelectorAll('*')].filter(each =>
    [...each.attributes].some(({name, value}) => /^on/i.test(name) && /ran/.test(value)
        || /^(href|src|action|formaction|xlink:href|data|srcdoc)$/i.test(name)
        && /^\\s*(javascript|http:..127.0.0.1:9)/i.test(value))
).map(each => each.outerHTML.slice(0, 200))"""
USED = """(() => {
    const all = [...document.querySelectorAll('button, summary, [tabindex], select, input, th, tr, svg *')];
    for (const each of all.filter(each => each.checkVisibility())) {
        for (const kind of ['mouseover', 'mousemove', 'focus', 'click', 'change', 'error', 'load'])
            each.dispatchEvent(new MouseEvent(kind, {bubbles: kind !== 'load' && kind !== 'error'}));
    }
})()"""
REST = "new Promise(done => setTimeout(done, 50))"
WORDS = """document.documentElement.textContent
    + [...document.querySelectorAll('*')].map(e => `${e.title ?? ''} ${e.ariaLabel ?? ''} ${e.value ?? ''}`)"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module", params=NAMES)
def hostile(request):
    name = NAMES[request.param]
    return SimpleNamespace(name=name, **named(name))


def check(browser, name=""):
    """What is shown holds a name as text, and nothing of it has run, neither by itself nor when all is touched."""
    assert name[:12] in browser.run(WORDS)
    assert browser.run(LIVE) == []
    browser.run(USED)
    browser.run(REST)
    assert browser.run(LIVE) == []
    assert browser.run("window.ran === undefined")
    assert browser.errors == []


def opened(browser, path, text):
    path.write_text(text, encoding="utf-8")
    browser.errors.clear()
    browser.open(path)


def test_a_page_that_explains_a_run_runs_nothing(browser, hostile, tmp_path):
    name = hostile.name
    run = replace(hostile.Run, program=name, parameters={name: name}, sources={name: (name,) * 9})
    opened(browser, tmp_path / "page.html", explanation(run))
    check(browser, name)


def test_a_page_of_a_study_runs_nothing(browser, hostile, tmp_path):
    name = hostile.name
    rows = [{"machine": f"{name}{turn}", name: size, "cycles": turn + size} for turn in range(2) for size in (1, 2, 3)]
    table = Table.from_rows(name, rows, ["machine", name], about={name: name}, fixed={f"{name} ": name})
    opened(browser, tmp_path / "page.html", page(table))
    check(browser, name)


def test_a_picture_and_a_notebook_run_nothing(browser, hostile, tmp_path):
    hostile.Run.plot().save(tmp_path / "picture.svg")
    cells = "".join(value._repr_html_() for value in (hostile.Trace, hostile.Machine, hostile.Run))
    picture = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    text = f"<!doctype html><meta charset=utf-8><title>-</title>{cells}{picture[picture.index('<svg') :]}"
    opened(browser, tmp_path / "page.html", text)
    check(browser, hostile.name)
    browser.open(tmp_path / "picture.svg")
    check(browser)


@pytest.fixture
def address(hostile):
    """Of a live page that was begun with these names."""
    pytest.importorskip("tornado")
    from simtmm.explorer.server import Server
    from simtmm.explorer.start import start

    begun, told, there = start(hostile.Trace, hostile.Machine), {}, threading.Event()

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


DRAWN = """new Promise(done => { const look = () => {
    const now = document.getElementById('page').dataset, refused = !document.querySelector('.failed').hidden;
    const drawn = now.answered === now.painted && now.curve === now.painted;
    now.answered && (refused || drawn) ? done() : setTimeout(look, 20); }; look(); })"""


@pytest.mark.parametrize("hostile", ["elements", "addresses"], indirect=True)
def test_the_live_page_runs_nothing(browser, hostile, address):
    browser.errors.clear()
    host = address.partition("?")[0]
    kept = browser.own
    browser.own = (*kept, host, host.replace("http", "ws", 1))
    try:
        browser.open(address)
        browser.run(DRAWN)
        check(browser, hostile.name)
        browser.open(f"{host}?{urlencode({'k': hostile.name, 'm': hostile.name, f'p.{hostile.name}': hostile.name})}")
        browser.run(DRAWN)
        check(browser, hostile.name)
        browser.run(DRAWN)
    finally:
        browser.own = kept
