"""Runs as a whole: of every kernel, on machines in turn, all that a run says: as text, and of its document each key.

`python -m tests.analysis.test_whole` writes them anew (tests/golden/outputs/runs), where they are to differ.
"""

import hashlib
import io
import json

import pytest
from rich.console import Console

from simtmm import run
from simtmm.model import MODELS
from simtmm.report.explain.text import document, explained
from simtmm.report.run import describe
from simtmm.requests.run import BY
from tests.whole import OUTPUTS, ROOT, comparable

FOLDER = OUTPUTS / "runs"
LEFT_OUT = {"facs", "list-ranking-wyllie-variants"}  # takes seconds; breaks its lines by where the package lies
KERNELS = sorted(path.parent.name for path in (ROOT / "kernels").glob("*/host.py") if path.parent.name not in LEFT_OUT)
MACHINES = sorted(path.stem for path in (ROOT / "machines").glob("*.toml"))


def told(kernel):
    """What a run of a kernel says."""
    machine = MACHINES[KERNELS.index(kernel) % len(MACHINES)]
    done = run(kernel, machine, engine="fast", models=tuple(MODELS))
    console = Console(file=io.StringIO(), width=160)
    for part in [*describe(done), *explained(done, counts=True)]:
        console.print(part)
    rows = {f"by {by}": document(done, by) for by in BY}
    lines = [line.rstrip() for line in console.file.getvalue().replace(str(ROOT), "ROOT").splitlines()]
    return "\n".join([*lines, "", *(f"{key}: {_digest(value)}" for key, value in (done.to_dict() | rows).items()), ""])


def _digest(value):
    return hashlib.sha256(json.dumps(comparable(value), sort_keys=True).encode()).hexdigest()[:12]


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_run_says_what_it_said(kernel):
    assert told(kernel) == (FOLDER / f"{kernel}.txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for kernel in KERNELS:
        (FOLDER / f"{kernel}.txt").write_text(told(kernel), encoding="utf-8")
