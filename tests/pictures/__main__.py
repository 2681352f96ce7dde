"""Write docs/explore.webp, the live page while its latency is dragged, by Playwright with the system's Chromium.

Each frame is the page itself at another latency; nothing is drawn here.
"""

import asyncio
import io
import shutil
import threading
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from simtmm.explorer.start import start

TARGET = Path(__file__).parents[2] / "docs" / "explore.webp"
STATE = "k=copy&m=gtx480&p.n=16384&latency={latency}&drag=latency"
LATENCIES = (50, 100, 200, 400, 800, 1600)
WIDTH, HEIGHT, SCALE = 1280, 860, 0.75
MILLISECONDS = 900  # a frame
PATIENCE = 120_000
SETTLED = """() => {
    const now = document.getElementById('page').dataset;
    return now.answered && now.answered === now.painted && now.curve === now.painted;
}"""


def main() -> None:
    """Write the picture."""
    from simtmm.explorer.server import Server

    there, told = threading.Event(), {}

    async def serve() -> None:
        told["server"] = Server(start("copy", "gtx480", {}))
        told["loop"], told["end"] = asyncio.get_running_loop(), asyncio.Event()
        there.set()
        await told["end"].wait()
        await told["server"].close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    there.wait(PATIENCE)
    frames = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="dark")
        for latency in LATENCIES:
            page.goto(f"{told['server'].address}?{STATE.format(latency=latency)}")
            page.wait_for_function(SETTLED, timeout=PATIENCE)
            picture = Image.open(io.BytesIO(page.screenshot()))
            frames.append(picture.convert("RGB").resize((int(WIDTH * SCALE), int(HEIGHT * SCALE)), Image.LANCZOS))
        browser.close()
    told["loop"].call_soon_threadsafe(told["end"].set)
    thread.join()
    back_and_forth = [*frames, *frames[-2:0:-1]]
    back_and_forth[0].save(
        TARGET, save_all=True, append_images=back_and_forth[1:], duration=MILLISECONDS, loop=0, quality=60, method=6
    )


if __name__ == "__main__":
    main()
