"""What options mean by their values, and the one line that refuses others; and what a shell completes."""

import re

import pytest

from simtmm.device.own_clock import OwnClock
from simtmm.errors import KernelError, StudyError, shown
from simtmm.machine import Machine
from simtmm.machine.part import part_of
from simtmm.model import MODELS
from simtmm.model.algorithms import ALGORITHMS
from simtmm.recorder.selection import StopAfter
from simtmm.requests import completion
from simtmm.requests.cuda_program import IN_DIFF, own_clock, stop_after
from simtmm.study.design.axes import MOST_VALUES, axis, span


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (None, StopAfter()),
        ("100", StopAfter(launches=100)),
        ("3.0", StopAfter(launches=3)),
        ("60s", StopAfter(seconds=60.0)),
        ("0.25s", StopAfter(seconds=0.25)),
        ("999999999s", StopAfter(seconds=1e6)),
    ],
)
def test_a_program_is_ended_after_so_many_launches_or_seconds(text, found):
    assert stop_after(text) == found


@pytest.mark.parametrize(
    "text", ["0", "0s", "1.5", "-3", "s", "", "ten", "5 s", "1234567890", "1e3", "1.1234567s", "٣"]
)
def test_what_is_no_number_of_launches_or_seconds_is_refused(text):
    with pytest.raises(KernelError) as told:
        stop_after(text)
    what = "must be a number of launches, such as 100, or of seconds, such as 60s"
    assert str(told.value) == f"--stop-after {shown(text)}: {what}"


@pytest.mark.parametrize(
    ("clock", "host_time", "usual", "is_ci", "found"),
    [
        ("virtual", "on", True, True, OwnClock("virtual")),
        ("real", "on", False, True, OwnClock("real")),
        ("virtual", None, True, False, OwnClock("virtual")),
        ("virtual", None, True, True, OwnClock("virtual", False, "where the environment sets CI")),
        ("virtual", None, False, True, OwnClock("virtual", False)),
        ("virtual", "off", True, True, OwnClock("virtual", False)),
        ("virtual", IN_DIFF, True, False, OwnClock("virtual", False, "in diff")),
        ("virtual", IN_DIFF, False, False, OwnClock("virtual", False)),
    ],
)
def test_whether_a_programs_own_time_counts(clock, host_time, usual, is_ci, found, monkeypatch):
    monkeypatch.setenv("CI", " True " if is_ci else "No")
    assert own_clock(clock, host_time, usual) == found


def test_other_clocks_are_refused():
    with pytest.raises(KernelError, match=r"^--clock 'sun': must be virtual or real$"):
        own_clock("sun", None, True)
    with pytest.raises(KernelError, match=r"^--host-time 'yes': must be on or off$"):
        own_clock("virtual", "yes", True)


@pytest.mark.parametrize(
    ("complete", "typed", "found"),
    [
        (completion.complete_rule, "fif", ["fifo"]),
        (completion.complete_rule, "lis", ["list"]),
        (completion.complete_kernel_or_rule_word, "tes", ["test"]),
        (completion.complete_kernel, "vector-", ["vector-add"]),
        (completion.complete_model, "calib", ["calibrated"]),
        (completion.complete_quantity, "simul", ["simulated"]),
        (completion.complete_program, "nothing-of-that-name", []),
    ],
)
def test_a_word_is_completed_by_what_may_stand_there(complete, typed, found):
    assert complete(typed) == found


def test_all_that_may_stand_there_is_offered():
    from simtmm.catalogue import known_kernels
    from simtmm.model.applications.catalogue import EQUATIONS
    from simtmm.validation.claims import known_claims

    assert sorted(completion.complete_equation("")) == sorted(EQUATIONS)
    assert sorted(completion.complete_claim("")) == sorted(known_claims())
    assert sorted(completion.complete_algorithm("")) == sorted(ALGORITHMS)
    assert sorted(completion.complete_quantity("")) == sorted([*MODELS, "calibrated", "simulated"])
    assert completion.complete_program("") == sorted({*known_kernels(), *ALGORITHMS})


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ("0:8:log", "LOW must be above 0"),
        ("8:2", ""),
        ("0.25:0.75", "it has no whole number"),
        ("1", "must be LOW:HIGH or LOW:HIGH:log"),
        ("1:2:square", "must be LOW:HIGH or LOW:HIGH:log"),
        (["1", 2], "must be LOW:HIGH or LOW:HIGH:log"),
    ],
)
def test_a_sample_lies_between_two_numbers_that_make_sense(given, line):
    with pytest.raises(StudyError, match=rf"^sample: axis n = '?{re.escape(str(given))}'?: .*{line}"):
        span("n", given, whole=True)


def test_an_axis_has_some_values_and_not_too_many():
    assert axis("n", [1] * MOST_VALUES, unique=False).values == (1,) * MOST_VALUES
    with pytest.raises(StudyError, match=rf"^axis n: {MOST_VALUES + 1} values: must be at most {MOST_VALUES}$"):
        axis("n", [1] * (MOST_VALUES + 1), unique=False)
    with pytest.raises(StudyError, match=r"^axis n: must have at least one value$"):
        axis("n", [])


BASE = {
    "name": "m",
    "clock_hz": 1e9,
    "cores": {"groups": 8, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 32},
    "memory": {
        "latency": 400, "chunk_words": 32, "partitions": 6, "service": 4, "l2": {"sets": 64, "ways": 4, "latency": 100},
        "last_level": {"sets": 512, "ways": 4, "latency": 200, "service": 2},
    },
}  # fmt: skip


def test_a_part_of_a_machine_has_its_share_of_the_last_level():
    memory = part_of(Machine.from_dict(BASE), 2).memory
    assert (memory.partitions, memory.service) == (2, 4 * 2 / 1.5)  # a whole number, so slower: they move as much
    assert (memory.last_level.sets, memory.last_level.service) == (128, 2 * 2 / 1.5)
    wide = Machine.from_dict(BASE).replace({"memory.last_level.bandwidth": 1e12, "memory.last_level.service": 0})
    assert part_of(wide, 2).memory.last_level.bandwidth == 2.5e11
