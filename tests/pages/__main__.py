"""python -m tests.pages [PAGE...]: execute the examples of all pages, or of these, and compare what is shown."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.pages.circumstances import PARTS, before, elsewhere, instead, write_files
from tests.pages.examples import PAGES, ROOT, Command, commands, python

PRELUDE = """
import pytest, simtmm
machine = simtmm.load_machine("ideal")
workload = simtmm.Workload.from_dict({"blocks": [{"warps": [[["load", [0]], ["compute", 2]]]}]})
"""
LIMIT = 1800  # seconds for an example


def run(page: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Each example of a page, and what is wrong with it, "" for nothing."""
    write_files(page, folder)
    for command in commands(page):
        missing = elsewhere(command.text)
        yield command.text, f"not run: needs {missing}" if missing else _of_command(command, folder)
    lines = python(page)
    if page.name in PARTS:
        for _ in lines:
            yield "lines of Python", f"not run: {PARTS[page.name]}"
    elif lines:
        done = _call(["-c", "\n".join([PRELUDE, *lines])], folder)
        yield "lines of Python", "" if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def _of_command(command: Command, folder: Path) -> str:
    if before(command.text):
        _call(["-m", "simtmm", *Command("", before(command.text)).words], folder)
    done = _call(["-m", "simtmm", *Command("", instead(command.text)).words], folder)
    printed = [_words(both) for both in (done.stderr + done.stdout, done.stdout + done.stderr)]  # pages show either
    if command.shown is None:
        return "" if done.returncode == 0 else f"exit status {done.returncode}: {printed[0][-300:]}"
    shown = re.escape(_words(command.shown)).replace(r"\.\.\.", ".*")  # dots stand for anything
    if any(re.search(shown, text) for text in printed):
        return ""
    return f"prints something else than it shows: {printed[0][:300]}"


def _call(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120"}
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )


def _words(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    wrong = 0
    for page in PAGES:
        if sys.argv[1:] and page.name not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            since = time.monotonic()
            for example, error in run(page, Path(folder)):
                wrong += bool(error) and not error.startswith("not run")
                print(
                    f"{page.name}: {time.monotonic() - since:6.1f} s: {example[:100]}: {error or 'right'}", flush=True
                )
                since = time.monotonic()
    sys.exit(bool(wrong))
