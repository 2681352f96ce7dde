"""Planted faults are found, each at its lines, and right kernels have none."""

import dataclasses

import pytest

from simtmm.cuda.checks.same_line import trips_apart
from tests.cuda.checks import faults, mended


@pytest.mark.parametrize("kernel", faults.FAULTS)
def test_planted_fault_is_found_at_its_lines(kernel):
    found = faults.found(kernel, fresh=kernel == "unwritten_global")
    assert faults.planted(kernel, found), "\n".join(found.lines())


@pytest.fixture(scope="module")
def mended_module(tmp_path_factory):
    return mended.module(tmp_path_factory.mktemp("mended"))


@pytest.mark.parametrize("kernel", faults.FAULTS)
def test_what_the_hint_says_mends_the_fault(kernel, mended_module):
    hint, _ = mended.MENDED[kernel]
    assert hint in faults.planted(kernel, faults.found(kernel, fresh=kernel == "unwritten_global")).hint
    left = faults.found(kernel, fresh=kernel == "unwritten_global", linked=mended_module)
    words = faults.FAULTS[kernel][0]
    assert not any(words in each.what for each in left.harmful), "\n".join(left.lines())


def test_nothing_is_found_in_right_kernels():
    wrong = {name: faults.found(name).lines() for name in faults.right() if faults.found(name).harmful}
    assert wrong == {}
    assert len(faults.right()) >= 15


def test_a_missing_barrier_is_found_whatever_the_values_are():
    """Shared memory may hold the zeros that are stored there, or anything."""
    found = faults.found("missing_barrier", "racecheck", zeros=True)
    assert faults.planted("missing_barrier", found)


def test_every_kernel_is_one_or_the_other():
    assert {*faults.FAULTS, *faults.right(), "all_write_the_same"} == set(faults.module().entries)
    assert set(mended.MENDED) == set(faults.FAULTS)


def test_stores_of_one_value_are_information_alone():
    found = faults.found("all_write_the_same")
    assert {finding.severity for finding in found.findings} == {"Info"}
    assert found.harmful == ()
    assert found.lines()[-1] == "========= CHECK SUMMARY: 0 errors, 0 warnings; 1 that change nothing (--json has them)"


def test_lanes_that_write_one_place_by_one_store_are_an_error():
    """A GPU that runs the warp in lock step hides nothing there; in other rounds of a loop it is a warning."""
    at_once, _ = faults.found("one_sum_of_all_lanes", "racecheck").harmful
    assert (at_once.severity, at_once.what.partition(":")[0]) == (
        "Error",
        "Potential WAW hazard detected at __shared__ 0x4 in block (0, 0, 0) between threads of a warp, at once",
    )
    _, by_rounds = faults.found("rounds_of_stores_without_a_barrier", "racecheck").harmful
    assert (by_rounds.severity, by_rounds.what[:44]) == ("Warning", "(Warp Level Programming) Potential WAW hazar")


def test_a_finding_names_threads_block_array_and_how_often():
    (finding,) = [each for each in faults.found("missing_barrier", "racecheck").harmful if faults.RAW in each.what]
    assert finding.lines == [
        "========= Error: Potential RAW hazard detected at __shared__ 0x7c in block (0, 0, 0) between threads of a "
        "block: byte 124 of `tile`",
        "=========     Write Thread (31, 0, 0) in block (0, 0, 0) at faults.cu:10: "
        "`tile[threadIdx.x] = in[threadIdx.x];`",
        "=========     Read Thread (32, 0, 0) in block (0, 0, 0) at faults.cu:11: "
        "`out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];`",
        # Lanes 0 to 31 of the second warp read what the first wrote, in 4 blocks; a 0 that thread 0 stores counts too.
        "=========     128 times, first in launch 0 of missing_barrier",
        "=========     Hint: put __syncthreads() between the two, where all threads of the block reach it",
    ]


def test_what_two_launches_have_at_the_same_lines_is_one_finding_with_the_times_of_both():
    once, twice = (faults.found("missing_barrier", "racecheck", launches=launches) for launches in (1, 2))
    assert [dataclasses.replace(each, count=2 * each.count) for each in once.findings] == list(twice.findings)
    assert {each.launch for each in twice.findings} == {0}
    assert (once.launches, twice.launches) == (1, 2)


def called(name, how, line):
    return f"{name}(), {how} at faults.cu:{faults.first_line('two_inlined_calls') + line}"


@pytest.mark.parametrize(
    ("kernel", "within"),
    [
        ("two_barriers_of_a_macro", ("", "another copy of the barrier on that line")),
        ("two_inlined_calls", tuple(f"in {called('meet', 'inlined', line)}" for line in (2, 4))),
        (
            "inlined_calls_of_inlined_calls",
            tuple(
                f"in {called('meet', 'inlined', 7)}, in {called('meet_deeper', 'inlined', line)}" for line in (11, 13)
            ),
        ),
        ("two_calls_of_a_function", tuple(f"in {called('meet_in_a_function', 'called', line)}" for line in (24, 26))),
    ],
)
def test_barriers_on_one_line_are_told_apart_by_where_they_were_inlined_or_called(kernel, within):
    found = faults.planted(kernel, faults.found(kernel))
    assert tuple(side.within for side in found.sides) == within
    assert all(side.text.endswith(side.within) for side in found.sides)


@pytest.mark.parametrize(
    ("kernel", "trips", "loop"),
    [
        ("continue_over_a_barrier", (2, 1), "loop"),
        ("continue_within_a_warp", (3, 4), "loop"),
        ("warps_in_other_rounds_of_the_outer_loop", (2, 1), "second loop"),
        ("calls_in_other_rounds", (2, 1), "loop"),
    ],
)
def test_one_barrier_is_told_apart_by_trips_of_the_loops_around_it(kernel, trips, loop):
    found = faults.planted(kernel, faults.found(kernel))
    assert [side.trip for side in found.sides] == [f"in trip {n} of the {loop} around it, as compiled" for n in trips]


@pytest.mark.parametrize(("level", "name"), [*enumerate(["loop", "second loop", "third loop", "fourth loop"])])
def test_the_innermost_loop_in_whose_trips_threads_differ_is_told(level, name):
    outer = sum(7 << (16 * each) for each in range(level + 1, 4))  # alike or not, they don't count
    trips = (2 << (16 * level)) + outer, (65535 << (16 * level)) + outer + (outer and 1 << (16 * (level + 1)))
    assert trips_apart(trips) == (
        f"in trip 2 of the {name} around it, as compiled", f"in trip 65535 of the {name} around it, as compiled",
    )  # fmt: skip
    assert trips_apart((trips[0], trips[0])) == ("", "")


@pytest.mark.parametrize("check", ["racecheck", "initcheck", "synccheck"])
def test_only_what_is_asked_for_is_looked_for(check):
    for kernel in ("missing_barrier", "unwritten_shared", "divergent_barrier"):
        assert {finding.check for finding in faults.found(kernel, check).findings} <= {check}


def test_findings_pass_through_json():
    found = faults.found("missing_barrier")
    again = type(found).from_dict(found.to_dict())
    assert set(again.findings) == set(found.findings)
    assert again.lines() == found.lines()
