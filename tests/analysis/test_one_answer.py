"""What binds a run is one answer: the report, its lines, the page, the document, the gate and `diff` all give it."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

import simtmm
from simtmm.analysis.difference.side import Side
from simtmm.analysis.gate import Timed
from simtmm.report.explain import explained
from simtmm.report.explain_page.content import content
from simtmm.report.run import describe
from tests.cuda.compilers.conftest import needs_machine_code

MACHINE = "h100-sxm"
KERNELS = (
    "histogram", "reduce", "scan", "transpose", "vector-add", "gemm", "bfs", "merge-sort", "list-ranking-wyllie", "mvt",
)  # fmt: skip
PROGRAMS = ("histogram.cu", "jacobi.cu")
FOLDER = Path(__file__).parents[1] / "programs"


def text(parts):
    console = Console(width=10_000, file=io.StringIO(), color_system=None)
    for part in parts:
        console.print(part)
    return console.file.getvalue()


def is_one_answer(done):
    document, verdict = done.to_dict(), done.verdict
    assert verdict.words
    for shown in (text(describe(done)), text(explained(done, "line", 3)), text(explained(done, "array"))):
        assert f"Verdict: {verdict.words}" in re.sub(r"\s+", " ", shown)
    assert content(done)["verdict"] == document["verdict"] == Side.of(document, "B").verdict == verdict.words
    bound, timed = document["bound"], Timed.of(done, {})
    assert (bound["cause"], timed.cause) == (verdict.cause, verdict.cause)
    assert verdict.cause.lower() in verdict.words.lower()
    behind = None if verdict.behind is None else verdict.behind.cause
    assert (timed.behind or None, bound["behind"] and bound["behind"]["cause"]) == (behind, behind)
    if verdict.where is None:
        assert (bound["where"], timed.line) == (None, "")
        return
    where = verdict.where
    assert [bound["where"][key] for key in ("file", "line", "array")] == [where.file, where.line, where.array]
    assert timed.line == str(where)
    assert str(where) in verdict.words
    heat = content(done)["heat"]
    if where.line:
        assert where.file in str(heat)


@pytest.mark.parametrize("kernel", KERNELS)
def test_of_kernels(kernel):
    is_one_answer(simtmm.run(kernel, MACHINE))


@needs_machine_code
@pytest.mark.parametrize("program", PROGRAMS)
def test_of_programs(program):
    is_one_answer(simtmm.run(str(FOLDER / program), MACHINE))
