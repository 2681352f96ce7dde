"""Locks and flags are found by what instructions do and said to be waited at; a lock has a change of its own."""

from pathlib import Path

import pytest

from simtmm import load_machine
from simtmm.analysis.run import run
from simtmm.analysis.turns import turns_of
from simtmm.recorder.compiled.cuda_file import cuda_program
from tests.cuda.compilers.conftest import needs_machine_code

pytestmark = needs_machine_code
FILE = Path(__file__).with_name("turns.cu")
LINES = FILE.read_text().splitlines()
SHAPES = {"exchanged_lock": (1, 32), "chained": (16, 1), "last_block": (16, 1)}  # of others, blocks of 64 threads


@pytest.fixture(scope="module")
def ran():
    kept = {}

    def of(kernel, machine="h100-sxm", what_if=False):
        if (kernel, machine, what_if) not in kept:
            grid, block = SHAPES.get(kernel, (8, 64))
            given = ["random:float32:512", "zeros:float32:16", "zeros:int32:16"]
            program = cuda_program(FILE, grid, block, given, kernel=kernel)
            kept[kernel, machine, what_if] = run(program, load_machine(machine), what_if=what_if)
        return kept[kernel, machine, what_if]

    return of


def told(done):
    return [words for words in done.warnings if words.startswith("Threads wait for others at")]


@pytest.mark.parametrize("machine", ["h100-sxm", "gtx280"])  # as machine code, and as PTX
@pytest.mark.parametrize(
    ("kernel", "line", "what"),
    [
        ("locked_sum", "while (atomicCAS(lock", "a lock in lock"),
        ("exchanged_lock", "if (atomicExch(lock, 1)", "a lock in lock"),
        ("chained", "while (flag[", "a flag in flag"),
    ],
)
def test_where_threads_wait_for_others_the_time_is_said_to_be_the_least(kernel, line, what, machine, ran):
    (words,) = told(ran(kernel, machine))
    number = next(number for number, text in enumerate(LINES, start=1) if line in text)
    assert f"turns.cu:{number} ({what})" in words
    assert "at least" in words


@pytest.mark.parametrize("kernel", ["sum_by_atomics", "product_by_comparisons", "last_block"])
def test_updates_without_a_lock_and_results_of_others_that_nobody_waits_for_are_neither(kernel, ran):
    done = ran(kernel)
    assert turns_of(done.result.stalls) == ()
    assert told(done) == []


def test_of_a_lock_it_is_advised_to_do_without_and_neither_copies_of_it_nor_more_blocks_nor_other_lanes(ran):
    done = ran("locked_sum", what_if=True)
    first = done.advice[0]
    assert (first.change, first.array, LINES[first.line - 1].strip()) == (
        "lock", "lock", "while (atomicCAS(lock, 0, 1) != 0);",
    )  # fmt: skip
    assert not {"spread", "privatize", "aggregate", "compact", "balance"} & {each.change for each in done.advice}
    assert done.result.ticks / ran("sum_by_atomics").result.ticks > 1.1  # as is advised
    assert "threads take turns at a lock" in done.verdict.words
    assert "more blocks, or smaller ones, would help" not in done.verdict.words


def test_what_is_no_lock_keeps_its_changes(ran):
    assert {"privatize", "aggregate"} & {each.change for each in ran("product_by_comparisons", what_if=True).advice}
