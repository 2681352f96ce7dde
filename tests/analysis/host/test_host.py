"""The host's part of a program: what its calls take, where, and what other code of the host would gain."""

import base64
import json
import zlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.analysis.host import host_found
from simtmm.analysis.host.calls import Call, calls_of
from simtmm.analysis.host.changes import changes_of
from simtmm.analysis.host.replay import END, replayed
from simtmm.analysis.run import run
from simtmm.device.host import IN, OUT, Host, Move, host_of
from simtmm.program import Program
from simtmm.programs.program import cuda_program
from simtmm.recorder.direct import calls as kinds
from simtmm.recorder.direct import journal
from simtmm.recorder.direct.journal import Journal
from tests.cuda.compilers.conftest import needs_machine_code

HERE = Path(__file__).parent
CALLS = {"launch": 4.0, "submit": 0.0, "synchronize": 3.0, "idle": 1.0, "allocate": 50.0, "free": 40.0, "copy": 2.0,
         "allocate_pinned": 100.0, "pinned_byte": 0.0, "record": 0.0}  # fmt: skip
COPIES = {
    f"{kind}_{way}": ((0, fixed), (1_000_000, fixed + 1e6 * each))
    for way in (IN, OUT)
    for kind, fixed, each in (("pageable", 10.0, 2e-4), ("pinned", 8.0, 1e-4), ("engine", 5.0, 1e-4))
}
HOST = Host(calls=CALLS, copies=COPIES, on_device=(7.0, 0.0))  # seconds, as whole numbers


def launch(seconds, kernel="k", stream=0):
    return Call(kinds.LAUNCH, kernel=kernel, seconds=seconds, stream=stream)


def copy(way, size, line, stream=0, **values):
    return Call(kinds.COPY, f"a.cu:{line}", stream, direction=way, size=size, **values)


def wait(line):
    return Call(kinds.SYNCHRONIZE, f"a.cu:{line}")


def found(calls, spared=0.0):
    """Of each change: its line, and how many times as fast all is."""
    now = replayed(calls, HOST).seconds
    return {
        each.change: (each.place.rpartition(":")[2], now / replayed(each.calls, HOST).seconds)
        for each in changes_of(calls, spared)
    }


def test_calls_take_their_time_and_the_host_waits_for_what_it_called():
    done = replayed([launch(100.0), launch(10.0), wait(7)], HOST)
    assert done.seconds == 100 + 10 + 3 + 1
    assert done.at == {("launch", ""): 8.0, ("synchronize", "a.cu:7"): 105.0, (END, ""): 1.0}


def test_waiting_after_each_launch_costs_the_launches():
    calls = [each for _ in range(10) for each in (launch(1.0), wait(7))]
    place, gain = found(calls)["wait once"]
    assert place == "7"
    # Each takes its call of 4 s now, and then one of a host that finds an idle device; without, launches of 4 s follow
    # one another, and the end is waited for once.
    assert gain == pytest.approx((10 * (4 + 1) + 1) / (10 * 4 + 1))


def test_a_few_waits_are_no_loop():
    assert "wait once" not in found([each for _ in range(3) for each in (launch(1.0), wait(7))])


def test_small_copies_of_a_line_between_launches_become_one():
    calls = [copy(IN, 1000, 3) for _ in range(8)] + [launch(1.0)]
    place, gain = found(calls)["gather"]
    before = 8 * (10 + 0.2) + 4 + 1
    after = 10 + 8 * 0.2 + 4 + 1
    assert (place, gain) == ("3", pytest.approx(before / after, rel=0.02))  # the call may end behind the kernel


def test_copies_that_are_large_or_apart_are_not_gathered():
    assert "gather" not in found([copy(IN, 1 << 17, 3) for _ in range(8)] + [launch(1.0)])
    assert "gather" not in found([each for _ in range(8) for each in (copy(IN, 1000, 3), launch(1.0))])


def test_memory_that_a_loop_allocates_is_allocated_once():
    one = [Call(kinds.ALLOCATE, "a.cu:3"), launch(10.0), Call(kinds.FREE, "a.cu:5")]
    place, gain = found(one * 6)["allocate once"]
    assert place == "3"
    assert gain > (6 * (50 + 10 + 40)) / (50 + 6 * 10 + 40 + 10)
    assert "allocate once" not in found(one * 3)


def test_pinned_memory_pays_where_it_is_used_often_enough_to_pay_for_its_allocation():
    once = [copy(IN, 500_000, 3), launch(1.0)]
    assert found(once)["pinned"][1] < 1.0
    assert found(once * 40)["pinned"][1] > 1.5


def test_data_that_go_out_and_in_again_in_each_round_stay():
    calls = [each for _ in range(6) for each in (copy(IN, 9000, 3), launch(5.0), copy(OUT, 9000, 5))]
    place, gain = found(calls)["stay"]
    assert place == "5"
    assert gain > 2.0
    other = [each for _ in range(6) for each in (copy(IN, 9000, 3), launch(5.0), copy(OUT, 40, 5))]
    assert "stay" not in found(other)  # a sum, say


def test_memory_that_is_allocated_where_data_are_copied_is_allocated_once_where_they_stay():
    """As for NumPy's arrays that Numba's kernels are given."""
    one = [Call(kinds.ALLOCATE, "a.cu:3"), copy(IN, 9000, 3), launch(5.0), copy(OUT, 9000, 3)]
    _, gain = found(one * 6)["stay"]
    _, less = found([call for call in one * 6 if call.kind != kinds.ALLOCATE])["stay"]
    assert gain > less
    apart = [replace(call, place="a.cu:2") if call.kind == kinds.ALLOCATE else call for call in one * 6]
    assert found(apart)["stay"][1] < less


def test_rounds_of_copies_and_kernels_overlap_on_streams_up_to_the_longest_of_them():
    calls = [each for _ in range(30) for each in (copy(IN, 900_000, 3), launch(95.0), copy(OUT, 900_000, 5))]
    place, gain = found(calls)["overlap"]
    assert place == "3"
    pinned = found(calls)["pinned"][1]
    assert gain > 2 * pinned  # copies in, kernels and copies out of 95 s each, side by side
    (change,) = [each for each in changes_of(calls, 0.0) if each.change == "overlap"]
    assert replayed(change.calls, HOST).seconds >= 30 * 95.0


def test_one_round_is_cut_into_pieces_unless_it_is_small():
    def overlap(size):
        return found([copy(IN, size, 3), launch(400.0), copy(OUT, size, 5)]).get("overlap")

    assert overlap(1_000_000) is None  # of which a piece would be too small
    assert overlap(4_000_000)[1] > 1.5


def test_what_uses_streams_already_is_left_alone():
    calls = [
        each
        for number in range(6)
        for each in (
            copy(IN, 900_000, 3, 1 + number % 2, is_pinned=True, is_awaited=False),
            launch(9.0, stream=1 + number % 2),
        )
    ]
    assert "overlap" not in found(calls)
    assert "pinned" not in found(calls)


def test_launches_that_follow_one_another_are_launched_by_a_graph():
    gain = found([launch(2.0) for _ in range(20)], spared=1.0)["launch by graph"][1]
    assert gain > 2.0
    assert "launch by graph" not in found([launch(2.0)] * 4)


def listed(calls, order, is_whole=True):
    """A trace's metadata that list these calls."""
    packed = base64.b64encode(zlib.compress(np.array(order, "<i2").tobytes())).decode()
    return SimpleNamespace(provenance={"host": {"calls": calls, "order": packed if is_whole else packed[:-5]}})


LAUNCHED = ["launch", "", "k", "(1, 1, 1) (32, 1, 1)", True, 0, False]
REPEATED = ["launch", "", "k", "(1, 1, 1) (32, 1, 1)", False, 0, False]


def test_a_launch_that_is_not_in_the_trace_takes_what_those_like_it_do():
    other = ["launch", "", "other", "(9, 1, 1) (32, 1, 1)", True, 0, False]
    info = listed([LAUNCHED, REPEATED, other], [0, 1, 2, 0, 1])
    assert [call.seconds for call in calls_of(info, [1.0, 50.0, 3.0])] == [1.0, 2.0, 50.0, 3.0, 2.0]


@pytest.mark.parametrize(
    "info",
    [
        listed([LAUNCHED], [0, 0]),  # two, and the trace has one
        listed([LAUNCHED], [1]),
        listed([LAUNCHED], [0], is_whole=False),
        listed([["dance", ""]], [0]),
        listed([["copy", "a.cu:1", 0, "sideways", 4, True, True]], [0]),
        listed([["copy", "a.cu:1", 0, IN, -4, True, True]], [0]),
        listed([["copy", "a.cu:1", 0, IN]], [0]),
        SimpleNamespace(provenance={"host": 5}),
        SimpleNamespace(provenance={}),
    ],
)
def test_calls_in_another_form_are_none(info):
    assert calls_of(info, [1.0]) == []


def test_waiting_in_cudafree_is_its_own():
    free = ["free", "a.cu:9", 0]
    info = listed([LAUNCHED, ["synchronize", "a.cu:9", -1], free, ["synchronize", "a.cu:8", -1]], [0, 3, 1, 2])
    assert [(call.kind, call.place) for call in calls_of(info, [1.0])] == [
        ("launch", ""), ("synchronize", "a.cu:8"), ("free", "a.cu:9"),
    ]  # fmt: skip


def results(rounds, **values):
    """Copies to the host of rounds of kernels, all to one place."""
    values = {"host": 0, "device": 1, **values}
    return [each for _ in range(rounds) for each in (launch(5.0), copy(OUT, 9000, 5, **values))]


def copied_less(calls):
    return [each for each in changes_of(calls, 0.0) if each.change == "copy back once"]


def test_results_that_the_next_copy_overwrites_are_to_be_copied_once_if_nobody_reads_them_which_no_call_says():
    (change,) = copied_less(results(6))
    assert change.place == "a.cu:5"
    assert "each of 6 copies overwrites the one before; whether your code reads them in between" in change.words
    assert sum(call.kind == kinds.COPY for call in change.calls) == 1
    assert found(results(6))["copy back once"][1] > 1.3
    assert not copied_less(results(3))  # no loop
    assert not copied_less(results(6, host=kinds.UNKNOWN))
    apart = [replace(call, host=number) for number, call in enumerate(results(6))]
    assert not copied_less(apart)


def test_results_that_go_back_to_the_device_are_needed():
    calls = [each for _ in range(6) for each in (*results(1), copy(IN, 9000, 3, host=0, device=1))]
    assert not copied_less(calls)


def test_copies_of_what_nothing_has_written_since_are_needless():
    calls = [launch(5.0), *[copy(OUT, 9000, 5, host=0, device=1)] * 6]
    (change,) = copied_less(calls)
    assert change.words.startswith("do not copy this again, as 5 of 6 copies do")
    assert not copied_less([launch(5.0), *[copy(OUT, 9000, 5, host=n, device=1) for n in range(6)]])
    of_another = [copy(OUT, 9000, 5, host=0, device=n) for n in range(6)]
    assert "overwrites the one before" in copied_less([launch(5.0), *of_another])[0].words


@pytest.mark.parametrize("waits", [kinds.SYNCHRONIZE, kinds.SYNCHRONIZE_STREAM, kinds.QUERY, None])
def test_results_that_are_overwritten_before_the_host_has_waited_are_read_by_nobody(waits):
    values = {"is_pinned": True, "is_awaited": False}
    between = [] if waits is None else [Call(waits, "a.cu:8")]
    calls = [each for _ in range(6) for each in (*results(1, **values), *between)]
    (change,) = copied_less(calls)
    assert ("before the host has waited for them" in change.words) == (waits is None)
    pageable = copied_less(results(6, is_awaited=False))[0]  # comes back when it has ended, whatever its name
    assert "whether your code reads them" in pageable.words


def test_calls_of_earlier_versions_lack_where_copies_go():
    info = listed([LAUNCHED, ["copy", "a.cu:1", 0, IN, 4, False, True]], [0, 1])
    assert [call.host for call in calls_of(info, [1.0])] == [kinds.UNKNOWN] * 2
    info = listed([LAUNCHED, ["copy", "a.cu:1", 0, IN, 4, False, True, 2, 3]], [0, 1])
    assert [(call.host, call.device) for call in calls_of(info, [1.0])][1] == (2, 3)


def test_what_a_journal_lists_a_reader_reads_back():
    """Each kind of call, with its values under their names."""
    kept, mark = Journal(NoClock(), lambda: "a.cu:4"), None
    kept.launched("k", "1 32", True, 3, False)
    for number in range(len(kinds.ALLOCATIONS)):
        kept.allocated(number, 64)
    kept.mark(1)
    kept.wait(mark, 2)
    kept.synchronize()
    kept.synchronize_stream(5)
    kept.copied(0, OUT, 64, True, False, 4096, 8192)
    kept.copied(0, IN, 16, True, False, 4112, 8192)
    kept.filled(0, 7)
    kept.fetched(0, 9, Move.FAULTS)
    kept.taken_back(11)
    kept.learned()
    read = calls_of(SimpleNamespace(provenance=json.loads(json.dumps(kept.to_provenance()))), [1.0])
    assert {call.kind for call in read} == set(kinds.VALUES)
    of_kind = {call.kind: call for call in read}
    assert (of_kind["launch"].stream, of_kind["fetch"].move, of_kind["take_back"].size) == (3, "FAULTS", 11)
    copied = [call for call in read if call.kind == kinds.COPY]
    assert [(call.host, call.device, call.is_pinned, call.is_awaited) for call in copied] == [(0, 1, True, False)] * 2


def test_where_copies_go_is_listed_of_so_many_places(monkeypatch):
    monkeypatch.setattr(journal, "MOST_PLACES", 3)
    kept = Journal(NoClock(), lambda: "a.cu:4")
    for number in (1, 2, 1, 3):
        kept.copied(0, OUT, 4, False, True, 4096 * number, 0)
    kept.copied(0, OUT, 4, False, True, 4096 * 9, 8)
    assert [call[-2:] for call in kept.to_provenance()["host"]["calls"]] == [[0, -1], [1, -1], [2, -1], [-1, -1]]


class NoClock:
    def __getattr__(self, name):
        return lambda *_: None


def test_calls_that_are_the_same_are_listed_once_and_too_many_not_at_all(monkeypatch):
    kept = Journal(NoClock(), lambda: "a.cu:4")
    for _ in range(50):
        kept.copied(0, IN, 64, False, True, 4096, 8192)
        kept.launched("k", "1 32", True, 0, False)
    document = json.loads(json.dumps(kept.to_provenance()["host"]))
    assert document["calls"] == [
        ["copy", "a.cu:4", 0, IN, 64, False, True, 0, 1],
        ["launch", "a.cu:4", "k", "1 32", True, 0, False],
    ]
    assert len(calls_of(SimpleNamespace(provenance={"host": document}), [1.0] * 50)) == 100
    monkeypatch.setattr(journal, "MOST", 100)
    kept.synchronize()
    assert kept.to_provenance() == {}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """What the host's part of a program of this folder is, on a machine."""
    kept = {}

    def of(name, machine, *words):
        if (name, machine, words) not in kept:
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(HERE)
                on = load_machine(machine)
                trace = cuda_program([name], words).run(on, tmp_path_factory.mktemp("host") / "trace.parquet").trace
                kept[name, machine, words] = run(Program(name, {}, trace), on, what_if=False).host
        return kept[name, machine, words]

    return of


def line_of(name, text):
    lines = (HERE / name).read_text().splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


@needs_machine_code
@pytest.mark.parametrize("machine", ["rtx-3080", "h100-sxm"])
def test_a_program_of_many_calls_is_told_which_of_them_take_the_time_at_which_line(ran, machine):
    host, name = ran("many_calls.cu", machine), "many_calls.cu"
    first = host.parts[0]
    assert first.words == "copies"
    assert first.place == f"{name}:{line_of(name, 'cudaMemcpy(d + k')}"
    assert first.number == 20 * 16
    told = {each.change: each.line for each in host.advice}
    assert (
        told.items()
        >= {
            "gather": line_of(name, "cudaMemcpy(d + k"),
            "allocate once": line_of(name, "cudaMalloc(&d"),
            "wait once": line_of(name, "cudaDeviceSynchronize"),
        }.items()
    )


@needs_machine_code
@pytest.mark.parametrize("machine", ["rtx-3080", "h100-sxm"])
def test_a_program_that_copies_and_computes_in_turns_is_told_to_overlap_and_gains_what_it_is_told(ran, machine):
    host, better = ran("rounds.cu", machine), ran("rounds.cu", machine, "better")
    told = {each.change: each for each in host.advice}
    assert told["overlap"].line == line_of("rounds.cu", "cudaMemcpy(i, own")
    # The advised program allocates pinned memory for each of two lines, and this one once: about a millisecond less.
    spared = host_of(load_machine(machine)).call("allocate_pinned")
    gain = host.seconds / (better.seconds + spared)
    assert told["overlap"].gain == pytest.approx(gain, rel=0.1)  # its three streams begin one after another, too
    assert not {"overlap", "pinned"} & {each.change for each in better.advice}


@needs_machine_code
@pytest.mark.parametrize("machine", ["rtx-3080", "h100-sxm"])
def test_a_program_that_copies_each_step_s_result_back_is_told_to_copy_the_last_and_gains_what_it_is_told(ran, machine):
    host, better = ran("results.cu", machine), ran("results.cu", machine, "better")
    told = {each.change: each for each in host.advice}["copy back once"]
    assert told.line == line_of("results.cu", "cudaMemcpy(h.data()")
    assert told.gain == pytest.approx(host.seconds / better.seconds, rel=0.01)
    assert told.gain > 2
    assert "copy back once" not in {each.change for each in better.advice}


@needs_machine_code
def test_the_report_and_the_document_have_the_host_s_part(ran):
    host = ran("many_calls.cu", "rtx-3080")
    document = json.loads(json.dumps(host.to_dict()))
    assert sum(part["share"] for part in document["parts"]) == pytest.approx(1.0)
    assert document["advice"][0]["where"].startswith("many_calls.cu:")
    assert host.kernels < host.seconds


def test_what_is_no_program_has_no_host_s_part():
    assert run("vector-add", "h100-sxm", {"n": 1024}, what_if=False).host is None
    assert host_found(load_machine("h100-sxm"), SimpleNamespace(provenance={}), [1.0]) is None
