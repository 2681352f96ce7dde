"""The lines above a run's tables: what was run, what its reader must know, and what its programmer could change."""

from types import SimpleNamespace

import pytest
from rich.console import Console

from simtmm import load_machine
from simtmm.analysis.host import HostFound
from simtmm.analysis.host.advice import HostPart
from simtmm.analysis.source_changes import Advice
from simtmm.report.run import _achieved, _times, advised, found_how, graph_words, heading, told_time, which_launches

GRAPH = {
    "name": "roads.mtx", "vertices": 12000, "edges": 34567, "directed": False, "weighted": False, "diameter": 1234,
    "diameter_is_exact": True, "reached_from_0": 11999, "degree": {"least": 1, "greatest": 4321, "mean": 5.7611},
}  # fmt: skip


def advice(**changed):
    given = {
        "change": "float", "words": "compute with float", "gain": 1.5, "how": "simulated", "part": "", "file": "k.cu",
        "line": 7, "array": "",
    }  # fmt: skip
    return Advice(**given | changed)


def run(**changed):
    given = {
        "program": "k.cu", "parameters": {}, "machine": load_machine("gtx480"), "graph": None, "faults": (),
        "warnings": (), "verdict": SimpleNamespace(words="Bound by memory."), "sampled": None, "advice": (),
        "host": None, "result": SimpleNamespace(cycles=1500.0, seconds=None),
    }  # fmt: skip
    return SimpleNamespace(**given | changed)


def told(of):
    """The heading's lines as a person reads them, without blank ones."""
    console = Console(width=200, force_terminal=False)
    with console.capture() as captured:
        for part in heading(of):
            console.print(part)
    return [line.rstrip() for line in captured.get().splitlines() if line.strip()]


def test_a_heading_names_the_program_its_parameters_and_the_machine():
    assert told(run()) == ["k.cu on GeForce GTX 480", "Verdict: Bound by memory."]
    named = run(parameters={"n": 8, "kind": "a"})
    assert told(named)[0] == "k.cu (n=8, kind=a) on GeForce GTX 480"


@pytest.mark.parametrize(
    ("start", "words"), [("cold", ""), ("warm", ", from a warm L2"), ("kept", ", its L2 as launches leave it")]
)
def test_a_heading_says_how_the_l2_is_at_first(start, words):
    machine = load_machine("rtx-a4000").replace({"memory.l2.start": start})
    assert told(run(machine=machine))[0] == f"k.cu on {machine.name}{words}"


def test_faults_come_before_warnings_and_are_told_once():
    of = run(faults=("one", "two"), warnings=("two", "three"), graph=GRAPH)
    assert [line.partition(":")[0] for line in told(of)[1:]] == [
        "Graph", "Fault of simtmm", "Fault of simtmm", "Warning", "Verdict",
    ]  # fmt: skip
    assert told(of)[2:5] == ["Fault of simtmm: one", "Fault of simtmm: two", "Warning: three"]


def test_a_sample_is_told_with_its_intervals():
    sampled = SimpleNamespace(error=0.0123, counts_error=0.0456, words="5 of 90 blocks")
    of = run(sampled=sampled)
    assert told(of)[-1] == "Sampled: 1,500 cycles ± 1.2 % (5 of 90 blocks); counts ± 4.6 %"
    timed = run(sampled=sampled, result=SimpleNamespace(cycles=1500.0, seconds=0.0025))
    assert told_time(timed) == "2.5 ms ± 1.2 %"


def test_a_graph_is_told_in_a_line():
    assert graph_words(GRAPH) == (
        "roads.mtx: 12,000 vertices, 34,567 edges, undirected; degree 1 to 4,321, mean 5.76; diameter 1,234; vertex 0 "
        "reaches 11,999"
    )
    other = graph_words(GRAPH | {"directed": True, "weighted": True, "diameter_is_exact": False})
    assert "34,567 edges, directed, weighted; degree" in other
    assert "diameter at least 1,234;" in other


def test_advice_is_a_row_with_its_gain_its_place_and_how_it_was_found():
    several = [advice(), advice(gain=2.346, how="bound", part="4 of 8 blocks"), advice(how="estimate"),
               advice(how="compiled")]  # fmt: skip
    assert list(advised(several)) == [
        (gain, "k.cu:7", "compute with float", how)
        for gain, how in zip(
            ("1.50x", "2.35x", "1.50x", "1.50x"),
            ("simulated", "at most, on 4 of 8 blocks", "estimated", "compiled, run and simulated"), strict=True,
        )
    ]  # fmt: skip
    assert found_how(advice(part="2 of 3 blocks")) == "simulated, on 2 of 3 blocks"
    lines = told(run(advice=several))
    assert lines[2].strip() == "What you could change"
    assert len(lines) == 4 + len(several)  # and a row of headings


def test_of_the_host_s_calls_five_are_told_that_take_two_in_a_hundred():
    shares = (0.5, 0.2, 0.1, 0.08, 0.05, 0.04)
    parts = tuple(
        HostPart(f"main.cu:{at}", f"call {at}", share, 1e-3, 1000 * (at + 1)) for at, share in enumerate(shares)
    )
    few = (*parts[:2], HostPart("main.cu:8", "call 8", 0.0199, 1e-3, 3), HostPart("main.cu:9", "call 9", 0.02, 1e-3, 3))
    for of_host, expected in ((parts, 5), (few, 3)):
        found = HostFound(0.002, 0.0005, of_host, (advice(words="keep it"),))
        lines = told(run(host=found))
        title = "The host's calls take 2 ms in all, kernels 500 us of it"
        assert title in " ".join(line.strip() for line in lines)
        calls = [line for line in lines if " call " in f" {line} " and line.rstrip().endswith("x")]
        assert len(calls) == expected
        assert calls[0].split() == ["50", "%", "main.cu:0", "call", "0", "1,000x"]
        assert any("What the host's code could change" in line for line in lines)
        assert any("keep it" in line for line in lines)
    assert len(told(run(host=HostFound(0.002, 0.0005, parts, ())))) == 2  # nothing to change, nothing to tell


def test_occupancies_name_three_kernels_and_count_the_rest():
    def of(*kernels):
        return SimpleNamespace(kernels_with=lambda entry: list(kernels))

    assert which_launches(of("a"), None, 1) == "a (1 launch)"
    assert which_launches(of("a", "b", "c"), None, 4) == "a, b, c (4 launches)"
    assert which_launches(of("a", "b", "c", "d", "e"), None, 9) == "a, b, c and 2 more (9 launches)"


def test_without_a_warp_nothing_is_achieved_and_without_time_no_ratio():
    empty = SimpleNamespace(stalls=None, time=None)
    assert list(_achieved(run(result=empty))) == []
    never = {"issuing": 0, "memory": 0, "barrier": 0, "start": 0, "empty": 9}
    stalls = SimpleNamespace(ticks=SimpleNamespace(sum=lambda: 0))
    assert list(_achieved(run(result=SimpleNamespace(stalls=stalls, time=never)))) == []
    prediction = SimpleNamespace(cycles=50.0, seconds=None, bound="memory")
    for cycles, ratio in ((0.0, ""), (40.0, "1.25")):
        result = SimpleNamespace(cycles=cycles, seconds=None, engine="fast")
        _, row = _times(run(result=result, predictions={"tmm": prediction}))
        assert (row[1], row[3], row[4]) == ("50", ratio, "memory")
