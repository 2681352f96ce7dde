"""Graham's anomalies: more speed or more room can make a run longer. The smallest cases, as docs/anomalies.md has them.

They were found by `hypothesis.find` and are kept, so that nobody takes monotonicity for a law.
"""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

LOAD = ["load", [0]]


def ticks(engine, scheduler, warps, latency, room):
    machine = Machine.from_dict(
        {
            "name": "one port",
            "cores": {"groups": 1, "cores_per_group": 1, "warp_width": 1, "max_threads_per_core": room},
            "scheduling": {"scheduler": scheduler},
            "memory": {"latency": latency, "chunk_words": 1},
        }
    )
    return simulate(machine, Workload.from_dict({"blocks": [{"warps": [warp]} for warp in warps]}), engine).ticks


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scheduler", ["oldest", "greedy-oldest"])
def test_less_latency_can_make_a_run_longer(engine, scheduler):
    warps = [[LOAD, ["compute", 1], ["compute", 1]], [LOAD], [LOAD]]
    assert ticks(engine, scheduler, warps, latency=2, room=3) == 5
    assert ticks(engine, scheduler, warps, latency=1, room=3) == 6


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("scheduler", "warps", "narrow"),
    [
        ("fifo", [[LOAD, LOAD], [["compute", 1], LOAD], [["compute", 1]]], 6),
        *(
            (scheduler, [[LOAD, ["compute", 1]], [LOAD, LOAD], [["compute", 2]]], 7)
            for scheduler in ("oldest", "greedy-oldest", "round-robin")
        ),
    ],
)
def test_room_for_one_more_warp_can_make_a_run_longer(engine, scheduler, warps, narrow):
    assert ticks(engine, scheduler, warps, latency=2, room=2) == narrow
    assert ticks(engine, scheduler, warps, latency=2, room=3) == narrow + 1
