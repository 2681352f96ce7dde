"""Copies that take longer than a program's kernels."""

import dataclasses

import pytest

from simtmm import load_machine, record
from simtmm.analysis.copies import Copy, copies_made, copies_words, in_words
from simtmm.analysis.run import run_program
from simtmm.device.host import IN, OUT, host_of
from simtmm.program import Program
from simtmm.trace.io import Trace

MACHINE = load_machine("a100-80")
SIZE = 1 << 22
ROWS = [
    {"direction": IN, "is_pinned": False, "bytes": SIZE, "number": 5},
    {"direction": OUT, "is_pinned": True, "bytes": SIZE, "number": 2},
    {"direction": None, "is_pinned": False, "bytes": SIZE, "number": 1},
]


@pytest.fixture(scope="module")
def trace():
    return record("vector-add", {"n": 1024})


def with_copies(trace, rows, **more):
    return dataclasses.replace(trace.info, provenance={**trace.info.provenance, "copies": rows, **more})


def test_copies_are_added_up_by_what_each_takes(trace):
    host = host_of(MACHINE)
    total = 5 * host.copy(IN, SIZE, False) + 2 * host.copy(OUT, SIZE, True) + host.copy_on_device(SIZE)
    pinned = 5 * host.copy(IN, SIZE, True) + 2 * host.copy(OUT, SIZE, True) + host.copy_on_device(SIZE)
    assert pinned < 0.9 * total
    words = copies_words(MACHINE, with_copies(trace, ROWS), total / 3)
    assert words == (
        f"Copies take 75 % of the time of this program's copies and kernels: {in_words(total)}, and kernels "
        f"{in_words(total / 3)}. From and to pinned memory (cudaMallocHost) they would take {in_words(pinned)}."
    )


def test_nothing_is_said_where_kernels_take_longer_or_no_copies_are_known(trace):
    host = host_of(MACHINE)
    of_one = host.copy(IN, SIZE, True)
    rows = [{"direction": IN, "is_pinned": True, "bytes": SIZE, "number": 1}]
    assert copies_words(MACHINE, with_copies(trace, rows), 1.01 * of_one) is None
    told = copies_words(MACHINE, with_copies(trace, rows), 0.5 * of_one)
    assert told is not None
    assert "pinned" not in told  # it is already
    assert copies_words(MACHINE, trace.info, 1e-9) is None
    assert copies_words(MACHINE, with_copies(trace, rows), None) is None  # a machine without a clock


def test_kernels_that_are_not_in_the_trace_count_as_those_that_are(trace):
    rows = [{"direction": IN, "is_pinned": True, "bytes": SIZE, "number": 1}]
    of_one = host_of(MACHINE).copy(IN, SIZE, True)
    assert copies_words(MACHINE, with_copies(trace, rows, launched=3), 0.3 * of_one) is not None
    assert copies_words(MACHINE, with_copies(trace, rows, launched=4), 0.3 * of_one) is None


@pytest.mark.parametrize(
    "rows",
    [
        "no list", [{}], [{**ROWS[0], "bytes": -1}], [{**ROWS[0], "number": 0}], [{**ROWS[0], "direction": "up"}],
        [{**ROWS[0], "bytes": "many"}], 3,
    ],
)  # fmt: skip
def test_what_is_no_list_of_copies_is_none(trace, rows):
    assert copies_made(with_copies(trace, rows)) == []
    assert copies_words(MACHINE, with_copies(trace, rows), 1e-9) is None


def test_a_run_says_so_first(trace):
    info = with_copies(trace, ROWS)
    program = Program(trace.info.kernel, {}, Trace(info, list(trace.runs())))
    assert run_program(program, MACHINE, what_if=False).warnings[0].startswith("Copies take nearly all of the time of")
    assert copies_made(info)[1] == Copy(OUT, True, SIZE, 2)


@pytest.mark.parametrize(("seconds", "words"), [(1.5, "1.5 s"), (0.01234, "12.3 ms"), (9e-7, "0.9 us"), (0.0, "0 us")])
def test_a_time_has_its_unit(seconds, words):
    assert in_words(seconds) == words
