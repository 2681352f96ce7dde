"""No simulation takes less than the least time, and each rule alone takes what it says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import Workload, load_machine, simulate
from simtmm.errors import MachineError
from simtmm.model.launch.least_time import LeastWork, least_time
from simtmm.stalls import CLASSES
from simtmm.testing.strategies import machines, operations
from simtmm.trace.schema import TraceLaunch
from tests.examples import SHARING, examples, several


def launch_of(blocks, threads):
    return TraceLaunch("k", (blocks, 1, 1), (threads, 1, 1), 0, 0)


def work_of(warps, blocks):
    """What the warps of these lists do at least, each of them."""
    counted = [(0,) * (5 + len(CLASSES))] if not warps else []
    for operations_of in warps:
        found = [0] * (5 + len(CLASSES))
        for name, *rest in operations_of:
            found[0] += {"compute": rest[0] if rest else 0, "shared": 1}.get(name, name in MEMORY)
            found[1] += name == "shared"
            found[2] += name in ("load", "async", "atomic", "reduce")
            found[3] += name == "store"
            found[4] += rest[0] if name == "pause" else 0
            if name == "compute" and len(rest) > 1:
                found[5 + CLASSES.index(rest[1])] += rest[0]
        counted.append(found)
    instructions, shared, loads, stores, stall, *of_class = map(min, zip(*counted, strict=True))
    return LeastWork(blocks, instructions, shared, loads, stores, stall, tuple(of_class))


MEMORY = ("load", "async", "store", "atomic", "reduce")


@examples(400 // SHARING)
@given(
    warps=st.lists(st.lists(operations(), max_size=12), min_size=1, max_size=4),
    edge=st.lists(st.lists(operations(), max_size=12), min_size=4, max_size=4),
    numbers=st.tuples(st.integers(1, 12), st.integers(0, 3)),
    drawn=several(machines()),
)
def test_no_simulation_takes_less(warps, edge, numbers, drawn):
    inside, outside = numbers
    edge = edge[: len(warps)]
    blocks = [{"warps": warps}] * inside + [{"warps": edge}] * outside
    for machine in drawn:
        launch = launch_of(inside + outside, len(warps) * machine.cores.warp_width)
        work = [work_of(warps, inside)] + ([work_of(edge, outside)] if outside else [])
        held = machine.active_blocks(launch.threads_per_block)
        workload = Workload.from_dict({"launches": [{"blocks": blocks, "blocks_per_group": held}] * 2})
        least = least_time(machine, [(launch, work)] * 2)
        assert least.ticks <= simulate(machine, workload, "fast").ticks


BASIS = {
    "name": "plain", "cores": {"groups": 2, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
    "memory": {"latency": 20, "chunk_words": 32, "transfers": "pipelined"}, "limits": {"blocks_per_group": 2},
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "work", "ticks", "bound"),
    [
        ({}, {"instructions": 10}, 100, "instruction issue"),  # 10 blocks of 2 warps on 2 groups of a port
        ({"scheduling.launch_overhead": 7}, {"instructions": 10}, 107, "instruction issue"),
        ({"scheduling.first_launch": 7}, {"instructions": 10}, 107, "instruction issue"),
        ({"cores.cores_per_group": 128, "scheduling.block_launch": 100}, {"instructions": 10}, 330, "latency"),
        (
            {"cores.cores_per_group": 128},
            {"instructions": 10, "stall": 40},
            150,
            "latency",
        ),  # 3 times 2 blocks: 10 + 40
        ({"scheduling.block_interval": 50}, {"instructions": 10}, 210, "launching blocks"),  # of 5 blocks the last
        ({"scheduling.warp_launch": 30}, {"instructions": 10}, 310, "launching blocks"),  # 10 warps, 30 apart
        ({"memory.port_interval": 40}, {"instructions": 1, "loads": 1}, 360, "memory ports"),  # 10 accesses: 9 apart
        ({"memory.port_interval": 40, "memory.ports": 2}, {"instructions": 1, "stores": 1}, 160, "memory ports"),
        (
            {"memory.port_interval": 40, "memory.ports": 3},
            {"instructions": 1, "loads": 1},
            120,
            "memory ports",
        ),  # of 3.3
        ({"memory.store_interval": 40}, {"instructions": 1, "stores": 1}, 360, "store port"),
        (
            {"pipes.fp64": {"interval": 16, "count": 2}},
            {"instructions": 3, "of_class": (0, 3, 0, 0, 0, 0)},
            224,
            "fp64",
        ),
        ({"banks.interval": 4}, {"instructions": 60, "shared_accesses": 48}, 1600, "instruction issue"),
    ],
)
def test_each_rule_takes_what_it_says(changes, work, ticks, bound):
    machine = load_machine("gtx480")  # for its form alone
    machine = type(machine).from_dict(BASIS).replace(changes)
    found = least_time(machine, [(launch_of(10, 64), [LeastWork(10, **work)])])
    assert (found.ticks, found.bound.removesuffix(" pipe")) == (ticks, bound)


def test_a_block_that_does_not_fit_is_refused():
    machine = load_machine("gtx480")
    with pytest.raises(MachineError, match="a block of 2000 threads"):
        least_time(machine, [(launch_of(1, 2000), [LeastWork(1)])])


def test_of_no_launch_nothing_is_taken():
    found = least_time(load_machine("gtx480"), [])
    assert (found.ticks, found.bound) == (0, "")
