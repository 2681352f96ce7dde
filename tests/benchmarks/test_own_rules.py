"""How fast users' scheduling rules are: compiled on the fast engine, and in Python on the reference engine.

python -m pytest tests/benchmarks/test_own_rules.py -n 0 --benchmark-enable --benchmark-only
"""

import pytest

from simtmm import load_machine, simulate
from simtmm.rules import two_level
from tests.benchmarks.test_rates import alternating, rate

CHANGES = {
    "cores.groups": 15, "memory.latency": 400, "memory.service": 1, "memory.l1": {"sets": 64, "ways": 4, "latency": 30},
}  # fmt: skip


def takes_turns(ready, group):
    """What the machine's own round-robin does."""
    last = group.granted_last.slot if group.granted_last else -1
    return min(ready, key=lambda warp: (warp.slot <= last, warp.slot))


RULES = {"takes-turns": takes_turns, "two-level": two_level(4)}


@pytest.mark.parametrize("switch", ["on-stall", "every-instruction"])
@pytest.mark.parametrize(("engine", "rule"), [
    ("fast", "round-robin"), ("fast", "takes-turns"), ("fast", "two-level"), ("reference", "takes-turns"),
])  # fmt: skip
def test_rules(benchmark, sized, switch, engine, rule):
    """A grant is an instruction where each is granted by itself; else a segment of a load and its compute."""
    machine = load_machine("ideal").replace(
        {**CHANGES, "scheduling.switch": switch, "scheduling.scheduler": "round-robin"}
    )
    blocks = sized(900 if engine == "fast" else 90, 30)
    workload = alternating(blocks, 8, sized(40, 8))
    simulate(machine, alternating(1, 1, 1), engine, scheduler=RULES.get(rule))  # compiled
    result = benchmark.pedantic(simulate, (machine, workload, engine), {"scheduler": RULES.get(rule)}, rounds=3)
    loads = blocks * 8 * sized(40, 8)
    assert (result.issued, result.transactions, result.engine) == (5 * loads, loads, engine)
    if rule == "takes-turns":
        assert result.ticks == simulate(machine, workload, "fast").ticks
    rate(benchmark, "warp operations", workload.operations)
