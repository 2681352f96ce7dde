"""Two runs side by side: contributions that add up, lines that find their partners, documents that are refused."""

import copy
import dataclasses
import json
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given

from simtmm import Machine, Workload
from simtmm.analysis.difference import NO_WARPS, OVERHEAD, Side, changed_keys, difference, load_document
from simtmm.analysis.difference.contributions import _matched
from simtmm.analysis.difference.side import MOST_CHANGES
from simtmm.analysis.run import run
from simtmm.errors import SavedRunError
from simtmm.stalls import Place
from simtmm.testing import machines, workloads
from tests.examples import SHARING, examples, several

MACHINE = Machine.from_dict(
    {
        "name": "one",
        "cores": {"groups": 1, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 8},
        "memory": {"latency": 20, "chunk_words": 8},
    }
)
WARP = [["compute", 3], ["load", [0]]]


def document(warps=(WARP,), launches=1, **changes):
    """A run of a launch, or of several that are the same, as it is saved."""
    what = Workload.from_dict({"launches": [{"blocks": [{"warps": list(warps)}]}] * launches})
    return json.loads(json.dumps(run(what, MACHINE.replace(changes), engine="reference", what_if=False).to_dict()))


def side(*args, **changes):
    return Side.of(document(*args, **changes), "it")


def contributions(entries):
    return {entry.name: entry.difference for entry in entries if entry.difference}


def test_halving_the_latency_saves_latency():
    result = difference(side(), side(**{"memory.latency": 10}))
    assert (result.unit, result.times, result.ratio) == ("cycles", (24, 14), 14 / 24)
    assert contributions(result.reasons) == {"memory_latency": -10}
    assert (result.cause.reason, result.cause.difference, result.cause.share) == ("memory_latency", -10, 1)
    assert (result.cause.place.kind, result.cause.array, result.against) == ("load", "", None)
    (load,) = [entry for entry in result.lines if entry.difference]
    assert load.places == (Place("load"), Place("load"))
    assert (load.times, load.warps, load.reason) == ((21, 11), (21, 11), "memory_latency")


def test_a_runs_time_is_shared_out_as_its_warps_ticks_are():
    result = difference(side(), side((WARP, WARP)))
    assert result.times == (24, 28)
    ticks = result.b.rows
    whole = sum(row.ticks for row in ticks)
    for entry in result.reasons:
        own = sum(row.ticks for row in ticks if row.reason == entry.name)
        assert entry.times[1] == Fraction(28 * own, whole)
        assert entry.warps[1] == own


def test_clocks_that_differ_make_it_time_and_a_clock_that_lacks_cycles():
    fast, slow, none = (side(clock_hz=clock) for clock in (2e6, 1e6, None))
    assert difference(slow, fast).unit == "s"
    assert difference(slow, fast).times == (Fraction(24, 10**6), Fraction(12, 10**6))
    assert difference(slow, slow).unit == difference(slow, none).unit == difference(none, none).unit == "cycles"


def test_overheads_of_launches_are_distinguished():
    result = difference(side(launches=2), side(launches=2, **{"scheduling.launch_overhead": 50}))
    assert contributions(result.reasons) == {OVERHEAD: 100}
    assert (result.cause.reason, result.cause.place) == (OVERHEAD, None)
    assert contributions(result.lines) == {}
    nothing = difference(side(()), side((), **{"scheduling.launch_overhead": 50}))
    assert (nothing.times, contributions(nothing.reasons), nothing.ratio) == ((0, 50), {OVERHEAD: 50}, None)


def test_equal_runs_have_no_cause():
    result = difference(side(), side())
    assert (result.difference, result.ratio, result.cause, result.against) == (0, 1, None, None)


@examples(40 // SHARING)
@given(several(machines()), workloads())
def test_contributions_add_up_to_the_difference_exactly(drawn, what):
    sides = [Side.of(run(what, on, engine="reference", what_if=False).to_dict(), "it") for on in drawn]
    for a, b in pairwise(sides):
        result = difference(a, b)
        assert result.times[1] - result.times[0] == result.difference
        for which in (0, 1):
            assert sum(entry.times[which] for entry in result.reasons) == result.times[which]
        assert sum(entry.difference for entry in result.reasons) == result.difference
        beside = sum(entry.difference for entry in result.reasons if entry.name in (OVERHEAD, NO_WARPS))
        for entries in (result.lines, result.arrays):
            assert sum(entry.difference for entry in entries) + beside == result.difference
        assert (result.cause is None) == (result.difference == 0)
        if result.cause is not None:
            assert result.cause.difference * result.difference > 0
            assert 0 <= result.cause.share <= 1
            back = difference(b, a)
            assert (back.cause.reason, back.cause.difference) == (result.cause.reason, -result.cause.difference)


def lines(*texts, file="k.cu"):
    return [Place("", file, number, text) for number, text in enumerate(texts, start=1) if text]


@pytest.mark.parametrize(
    ("a", "b", "pairs"),
    [
        (("x", "y"), ("x", "y"), {(1, 1), (2, 2)}),
        (("x", "y"), ("x", "new", "y"), {(1, 1), (2, 3), (None, 2)}),
        (("x", "y"), ("x", "z"), {(1, 1), (2, 2)}),  # changed in its place
        (("sync", "x", "sync"), ("x", "sync", "sync"), {(1, 2), (2, 1), (3, 3)}),
        (("x", "y", "z"), ("y",), {(1, None), (2, 1), (3, None)}),
        ((), ("x",), {(None, 1)}),
    ],
)
def test_lines_are_matched_by_their_text_and_then_by_their_number(a, b, pairs):
    found = _matched(lines(*a), lines(*b), is_same_program=True)
    assert {tuple(place and place.line for place in pair) for pair in found} == pairs


def test_lines_of_different_programs_are_matched_by_their_text_alone():
    found = _matched(lines("x", "y"), lines("z", "y"), is_same_program=False)
    assert {tuple(place and place.source for place in pair) for pair in found} == {("y", "y"), ("x", None), (None, "z")}


def test_of_different_programs_a_line_that_is_changed_a_little_is_the_same_line():
    a, b = lines("float x = y[i];", "SYNC();"), lines("float x = y[j];", "return;")
    found = _matched(a, b, is_same_program=False)
    assert {tuple(place and place.line for place in pair) for pair in found} == {(1, 1), (2, None), (None, 2)}


def test_a_file_that_has_another_name_is_the_same_file_if_there_is_one_alone():
    renamed = lines("x", "y", file="new.cu")
    assert {len(pair) for pair in _matched(lines("x", "y"), renamed, is_same_program=False)} == {2}
    assert all(None not in pair for pair in _matched(lines("x", "y"), renamed, is_same_program=False))
    shared = [Place("", "h.cuh", 1, "z")]
    assert all(None not in pair for pair in _matched([*lines("x"), *shared], [*renamed[:1], *shared], False))
    several = [*renamed, *lines("x", file="third.cu")]
    assert len(_matched(lines("x", "y"), several, is_same_program=False)) == 5


def test_what_differs_of_a_machine_and_of_parameters_is_reported():
    assert changed_keys(side(), side(**{"memory.latency": 10})) == {"memory.latency": (20.0, 10.0)}
    assert changed_keys(side(), side()) == {}


MISTAKES = {
    "no run": (lambda made: made.pop("simulated"), "is not the output of `simtmm run --json`: simulated is missing"),
    "no stalls": (lambda made: made.pop("stalls"), "is not the output of `simtmm run --json`: stalls is missing"),
    "stalls left out": (lambda made: made.update(stalls=None), "has no stalls, so it does not say why"),
    "another version": (lambda made: made["provenance"].update(simtmm="0.0.1"), "was written by simtmm '0.0.1'"),
    "no version": (lambda made: made.update(provenance={}), "is damaged: 'simtmm' is missing"),
    "ticks": (lambda made: made["simulated"].update(ticks=2.5), "is damaged: ticks = 2.5: must be a whole"),
    "many ticks": (lambda made: made["simulated"].update(ticks=10**400), "is damaged: ticks = 1000"),
    "a clock": (lambda made: made["machine"].update(clock_hz=-1), "is damaged: clock_hz = -1: must be"),
    "a slow clock": (lambda made: made["machine"].update(clock_hz=1e-323), "is damaged: "),
    "overheads": (
        lambda made: made["machine"]["scheduling"].update(launch_overhead=99), "is damaged: launches' overheads"
    ),
    "no overhead": (
        lambda made: made["machine"]["scheduling"].update(launch_overhead=float("inf")), "is damaged: "
    ),
    "a place": (lambda made: made["stalls"]["places"].pop(), "is damaged: stalls: places and reasons must agree"),
    "a row": (lambda made: made["stalls"].update(places=[1]), "is damaged: "),
    "a line": (lambda made: made["stalls"]["places"][0].pop("line"), "is damaged: 'line' is missing"),
    "a reason": (lambda made: made["stalls"]["reasons"].pop("rows"), "is damaged: stalls: places and reasons"),
    "a machine": (lambda made: made.update(machine=[]), "is damaged: "),
}  # fmt: skip


@pytest.fixture(scope="module")
def good():
    return document()


@pytest.mark.parametrize(("damage", "said"), MISTAKES.values(), ids=MISTAKES)
def test_what_is_no_run_of_this_version_is_refused_in_a_line(good, damage, said):
    copied = copy.deepcopy(good)
    damage(copied)
    with pytest.raises(SavedRunError) as caught:
        Side.of(copied, "a.json")
    assert str(caught.value).startswith(f"a.json: {said}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("other", [True, 3, None, "cycles", []])
def test_a_document_without_keys_is_no_run(other):
    with pytest.raises(SavedRunError, match=r"a\.json: is not the output of `simtmm run --json`"):
        Side.of(other, "a.json")


def test_a_file_that_never_ends_is_no_run():
    with pytest.raises(SavedRunError, match="/dev/zero: is too large"):
        load_document("/dev/zero")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\xff"])
def test_what_is_no_json_is_refused(tmp_path, text):
    (tmp_path / "a.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(SavedRunError, match=r"a\.json: is not JSON"):
        load_document(tmp_path / "a.json")
    with pytest.raises(SavedRunError, match=r"b\.json: can't be read"):
        load_document(tmp_path / "b.json")


@pytest.mark.parametrize(
    ("one", "other", "same_program", "changed"),
    [
        ({}, {}, True, {}),
        ({"n": 1, "m": 2}, {"n": 1, "m": 2}, True, {}),
        ({"n": 1, "m": 2}, {"n": 1, "m": 3}, True, {"m": (2, 3)}),
        ({"n": 1}, {"n": 1, "m": 3}, True, {"m": (None, 3)}),
        ({"n": 1, "m": 2}, {"n": 1}, True, {"m": (2, None)}),
        ({"n": 1}, {"n": 2}, False, {}),  # of other programs they say nothing
    ],
)
def test_parameters_of_one_program_that_differ_are_named(one, other, same_program, changed):
    a = dataclasses.replace(side(), program="p", parameters=one)
    b = dataclasses.replace(side(), program="p" if same_program else "q", parameters=other)
    assert changed_keys(a, b) == changed
    assert changed_keys(a, dataclasses.replace(b, tables={**b.tables, "k": 7})) == {**changed, "k": (None, 7)}


@pytest.mark.parametrize("more", [0, 1])
def test_values_of_machines_are_named_where_few_differ(more):
    a = dataclasses.replace(side(), tables={f"k{number}": number for number in range(50)})
    wide = {f"k{number}": -number - 1 for number in range(MOST_CHANGES + more)}
    changed = changed_keys(a, dataclasses.replace(a, tables={**a.tables, **wide}))
    assert changed == ({} if more else {name: (a.tables[name], value) for name, value in wide.items()})
