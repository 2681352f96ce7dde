"""How fast a timeline is written."""

from simtmm import Workload, load_machine, simulate
from simtmm.report.trace_events import write_timeline


def test_events_a_second(benchmark, tmp_path, sized):
    machine = load_machine("gtx280")
    warps = [[["compute", 2], ["load", [0, 1]]] * 100] * 4
    blocks = sized(200, 10)
    result = simulate(machine, Workload.from_dict({"blocks": [{"warps": warps}] * blocks}), timeline=True, stalls=True)
    outcome = benchmark(write_timeline, tmp_path / "out.json", result, machine, most_events=10**7)
    assert outcome.events == outcome.of > 1000 * blocks  # each interval of each warp, so that faster can't mean less
    if benchmark.stats:  # there are none where benchmarks are switched off
        assert outcome.events / benchmark.stats["mean"] > 120_000
