"""Why is my kernel slow? Kernels as people ask about them: the cause, the line, and that the first advice helps.

Each stands beside the kernel that the accepted answer makes of it, which is as much faster as is said, about.
"""

from pathlib import Path

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.analysis.run import run
from simtmm.analysis.source_changes import BOUND
from simtmm.engine import causes
from simtmm.recorder.compiled.cuda_file import cuda_program
from tests.analysis.why_slow import further_questions, more_questions, questions
from tests.analysis.why_slow.questions import PATTERNS, Question
from tests.cuda.compilers.conftest import needs_machine_code

pytestmark = needs_machine_code
HERE = Path(__file__).parent


QUESTIONS = [*questions.QUESTIONS, *more_questions.QUESTIONS, *further_questions.QUESTIONS]
ARRAYS = {**questions.ARRAYS, **further_questions.ARRAYS}


def is_named(line, found):
    """Whether a line of source has one of some parts."""
    return any(each in found for each in ((line,) if isinstance(line, str) else line))


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    kept, folder = {}, tmp_path_factory.mktemp("arrays")
    for name, array in ARRAYS.items():
        np.save(folder / name, array)

    def of(asked, name, grid, block, arguments, what_if):
        if (asked, name, grid, arguments) not in kept:
            given = [str(folder / each) if each in ARRAYS else each for each in arguments]
            program = cuda_program(HERE / asked.file, grid, block, given, kernel=name)
            kept[asked, name, grid, arguments] = run(program, load_machine(asked.machine), what_if=what_if)
        return kept[asked, name, grid, arguments]

    return of


def slow(ran, asked):
    return ran(asked, asked.kernel, asked.grid, asked.block, asked.arguments, True)


def better(ran, asked):
    grid, block = asked.better_grid or asked.grid, asked.better_block or asked.block
    return ran(asked, asked.better, grid, block, asked.better_arguments or asked.arguments, False)


EACH = pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked.kernel)


@pytest.mark.parametrize("asked", [*QUESTIONS, *further_questions.CAUSES], ids=lambda asked: asked.kernel)
def test_the_cause_and_the_line_are_named(asked, ran):
    found = slow(ran, asked).verdict
    assert any(cause in found.cause for cause in asked.causes), found.words
    source = (HERE / asked.file).read_text().splitlines()[found.where.line - 1]
    assert is_named(asked.line, source), (source, found.words)
    assert f"{asked.file}:{found.where.line}" in found.words


@EACH
def test_the_first_advice_is_what_the_better_kernel_does_and_gains_what_that_gains(asked, ran):
    done = slow(ran, asked)
    first = done.advice[0]
    assert first.change == asked.change, done.advice
    gain = done.result.ticks / better(ran, asked).result.ticks
    assert gain > 1.1
    assert 1 / asked.factor < first.gain / gain < asked.factor, (first.gain, gain)


BOUNDS = [asked for asked in QUESTIONS if asked.change in ("local memory", "constant", "tile", "compact")]


@pytest.mark.parametrize("asked", BOUNDS, ids=lambda asked: asked.kernel)
def test_a_bound_is_no_less_than_what_the_better_kernel_gains(asked, ran):
    """To 5 %: blocks begin one after another, so that a changed trace meets others than the better kernel at memory."""
    first = slow(ran, asked).advice[0]
    if first.how == BOUND:
        assert first.gain >= 0.95 * slow(ran, asked).result.ticks / better(ran, asked).result.ticks


@pytest.mark.parametrize(
    ("kernel", "line", "arguments"),
    [
        ("one_list", "at = next[at]", ("anywhere.npy", "zeros:int32:8192", "64")),
        ("lower_bounds", "if (sorted[middle]", ("floats.npy", "random:float32:8192", "zeros:int32:8192", "262144")),
    ],
)
@pytest.mark.parametrize("machine", ["rtx-3080", "h100-sxm"])
def test_where_each_load_says_where_the_next_goes_none_is_to_be_earlier_wider_or_of_a_tile(
    kernel, line, arguments, machine, ran
):
    asked = Question(more_questions.LOOPS, kernel, "", machine, 64, 128, arguments, (), line, "")
    done = slow(ran, asked)
    lines = (HERE / asked.file).read_text().splitlines()
    at = next(number for number, text in enumerate(lines, start=1) if line in text)
    assert done.verdict.where.line == at
    assert not {"load ahead", "tile", "vectorize"} & {each.change for each in done.advice if each.line == at}


def test_threads_that_go_round_different_numbers_of_times_are_to_be_given_as_many(ran):
    """Escape times of points that are drawn from all over: no compiler and no other layout would make them alike."""
    asked = Question(
        PATTERNS, "mandelbrot", "", "rtx-3080", 256, 256, ("zeros:int32:65536", "256", "300"), (causes.ISSUE,),
        "while (x * x", "balance",
    )  # fmt: skip
    done = slow(ran, asked)
    first = done.advice[0]
    assert (done.verdict.cause, first.change) == (causes.ISSUE, "balance")
    lines = (HERE / PATTERNS).read_text().splitlines()
    loop = next(number for number, line in enumerate(lines, start=1) if "while (x * x" in line)
    assert loop <= first.line <= loop + 1  # the loop's condition, or its first statement
    assert 1.5 < first.gain < 32


@pytest.mark.parametrize(
    ("kernel", "arguments", "line"),
    [
        ("powers_of_64_bits", ("random:uint32:1024", "zeros:uint32:1024", "4294967291"), "base = base * base % m"),
        (
            "columns_of_image",
            ("random:float32:1024", "zeros:float32:9216", "1", "32", "32", "3"),
            "k / side) % height",
        ),
    ],
)
def test_divisions_take_the_time_of_their_line(kernel, arguments, line):
    """And not the kernel's last line, behind which the assembler puts their function, nor the store behind them."""
    program = cuda_program(HERE / "divisions.cu", 4, 256, list(arguments), kernel=kernel)
    done = run(program, load_machine("h100-sxm"), what_if=False)
    hottest = done.result.stalls.summed("line")[0]
    assert line in hottest["source"]
    assert line in done.verdict.where.source
