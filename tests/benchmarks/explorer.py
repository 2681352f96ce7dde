"""From a move of a slider to the picture: `python -m tests.benchmarks.explorer`, with Playwright and a Chromium.

Prints a table: milliseconds from a move of the latency to what is painted, median and ninth of ten, and to the curve.
"""

import asyncio
import shutil
import statistics
import threading

from playwright.sync_api import Page, sync_playwright

from simtmm.explorer.server import Server
from simtmm.explorer.start import start

MOVES = 30
PROGRAMS = (
    "k=list-ranking-wyllie&m=gtx480",
    "k=apsp-minplus&m=classroom&p.n=48",
    "k=gemm&m=gtx480&p.n=64",
    "k=copy&m=classroom&p.n=2097152",
)
# A move as a hand makes it; done when what it asked for is drawn, and then when its curve is, too.
MOVE = """async place => {
    const slider = document.querySelector('[data-control="latency"]'), page = document.getElementById('page');
    const before = page.dataset.painted, began = performance.now();
    const until = done => new Promise(resolve => {
        const look = () => done() ? resolve(performance.now() - began) : requestAnimationFrame(look);
        look();
    });
    slider.value = +slider.min + (+slider.max - slider.min) * place;
    slider.dispatchEvent(new Event('input', {bubbles: true}));
    const painted = await until(() => page.dataset.painted !== before);
    const curve = await until(() => page.dataset.answered && page.dataset.curve === page.dataset.painted);
    return [painted, curve];
}"""


def measured(page: Page, address: str, state: str) -> tuple[float, float, float]:
    """Milliseconds to the picture, median and ninth of ten, and to the curve, median."""
    page.goto(f"{address}?{state}")
    page.wait_for_function("() => { const now = document.getElementById('page').dataset;"
                           " return now.answered && now.curve === now.painted }")  # fmt: skip
    moves = [page.evaluate(MOVE, (0.2, 0.8)[number % 2] + 0.1 * number / MOVES) for number in range(MOVES)]
    pictures, curves = zip(*moves, strict=True)
    return statistics.median(pictures), statistics.quantiles(pictures, n=10)[-1], statistics.median(curves)


async def _serve(there: threading.Event, told: dict[str, object]) -> None:
    server = Server(start("copy", "classroom", {"n": 2048}))
    loop, end = asyncio.get_running_loop(), asyncio.Event()
    told.update(address=server.address, end=lambda: loop.call_soon_threadsafe(end.set))
    there.set()
    await end.wait()
    await server.close()


def main() -> None:
    """Measure each program, and print a row of it."""
    there, told = threading.Event(), {}
    thread = threading.Thread(target=lambda: asyncio.run(_serve(there, told)))
    thread.start()
    there.wait()
    try:
        chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_context(viewport={"width": 1300, "height": 1000}).new_page()
            page.set_default_timeout(120_000)
            print("| state | picture, median [ms] | ninth of ten | curve, median |\n|---|---|---|---|")
            for state in PROGRAMS:
                picture, late, curve = measured(page, told["address"], state)
                print(f"| `{state}` | {picture:.0f} | {late:.0f} | {curve:.0f} |", flush=True)
            browser.close()
    finally:
        told["end"]()
        thread.join()


if __name__ == "__main__":
    main()
