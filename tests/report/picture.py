"""python -m tests.report.picture: the README's picture, the page of its first example as a browser shows it."""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.report.browser import CHROMIUM
from tests.test_readme import BLOCKS, ROOT

PICTURE = ROOT / "docs" / "explained.png"
SIZE = "1120,560"


def main() -> None:
    """Run the example, write its page, and take the screenshot."""
    if CHROMIUM is None:
        sys.exit("a Chromium is needed, on PATH or in CHROMIUM")
    (source,) = [text for language, text in BLOCKS if language == "cuda"]
    (command,) = [text.split("\n", 1)[0] for _, text in BLOCKS if text.startswith("$ simtmm run sgemm.cu")]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sgemm.cu").write_text(source, encoding="utf-8")
        words = command.removeprefix("$ simtmm run ").split()
        page = [sys.executable, "-m", "simtmm", "explain", *words, "-o", "page.html"]
        subprocess.run(page, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        shot = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={SIZE}"]
        where = f"file://{folder}/page.html"
        subprocess.run([CHROMIUM, *shot, f"--screenshot={PICTURE}", where], check=True, capture_output=True)


if __name__ == "__main__":
    main()
