"""Launches that recur: the fast engine takes the numbers of the one before, and a machine's arrays are used again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import Machine, Workload
from simtmm.engine import fast, simulate
from simtmm.engine.fast.launches import equal
from simtmm.testing import launches, machines
from tests.engine.test_equal import EXAMPLES, agreeing
from tests.examples import several

MACHINE = {
    "name": "m",
    "cores": {"groups": 2, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
    "memory": {"latency": 100, "chunk_words": 32, "stores": "posted"},
}
L2 = {"sets": 4, "ways": 2, "latency": 40, "writes": "back", "start": "kept"}


def of(*chunks, store=True):
    """A launch that loads chunks, and stores them."""
    return {"blocks": [{"warps": [[["load", list(chunks)], *([["store", list(chunks)]] if store else [])]]}]}


def simulated(monkeypatch, machine, workload, **asked):
    """What an engine gives, which must be what the other gives; and the launches that were simulated for it."""
    simulated = []
    right = fast.Launch

    def noted(machine, workload, launch, *more):
        simulated.append(launch)
        return right(machine, workload, launch, *more)

    monkeypatch.setattr(fast, "Launch", noted)
    begun = [np.full(workload.blocks, -1) for _ in range(2)]
    result = simulate(machine, workload, "fast", begun=begun[0], **asked)
    assert result == simulate(machine, workload, "reference", begun=begun[1], **asked)
    assert begun[0].tolist() == begun[1].tolist()
    return result, simulated


@pytest.mark.parametrize("stalls", [False, True])
@pytest.mark.parametrize(
    ("l2", "pattern", "needed"),
    [
        (None, "aaaaaa", [0]),
        (None, "abcb", [0, 1, 2]),
        ({**L2, "start": "cold"}, "aaaaaa", [0]),
        ({**L2, "start": "warm"}, "aaaaaa", [0]),
        (L2, "aaaaaa", [0, 1]),  # the second finds what the first left, and leaves the same
        (L2, "abababab", [0, 1, 2]),  # the last finds what it leaves
        (L2, "aaabbbaaa", [0, 1, 3, 4, 6]),  # at the third turn another one's lines lie there
        (L2, "aabaabaab", [0, 1, 2, 3]),
        (None, "abcdefabcdef", [*range(6)]),
    ],
)  # fmt: skip
def test_a_launch_that_finds_what_one_before_found_is_not_simulated_again(monkeypatch, stalls, l2, pattern, needed):
    machine = Machine.from_dict({**MACHINE, "memory": {**MACHINE["memory"], **({"l2": l2} if l2 else {})}})
    kinds = {"a": of(1, 5, 9), "b": of(1, 13, 17), "c": of(2), "d": of(3), "e": of(4), "f": of(6)}
    workload = Workload.from_dict({"launches": [kinds[kind] for kind in pattern]})
    _, simulated_launches = simulated(monkeypatch, machine, workload, stalls=stalls)
    assert simulated_launches == needed


@pytest.mark.parametrize("writes", ["through", "back"])
@pytest.mark.parametrize("start", ["cold", "warm", "kept"])
def test_another_launch_finds_nothing_of_one_whose_numbers_are_known(monkeypatch, start, writes):
    """Their chunks all have room: what the second launch of a kind leaves is as gone as what the first one left."""
    l2 = {"sets": 64, "ways": 4, "latency": 40, "writes": writes, "start": start}
    machine = Machine.from_dict({**MACHINE, "memory": {**MACHINE["memory"], "l2": l2}})
    a, b = of(1, 2, 3), {"blocks": [{"warps": [[["load", [1, 2]], ["load", [7]], ["load", [3]]]]}]}
    workload = Workload.from_dict({"launches": [a, a, b, b, a, b]})
    simulated(monkeypatch, machine, workload, stalls=True)


def test_the_first_launch_alone_pays_for_translations_of_a_run(monkeypatch):
    memory = {**MACHINE["memory"], "first_access": 50, "translations": "run"}
    workload = Workload.from_dict({"launches": [of(1, 5, 9)] * 4})
    _, launches = simulated(monkeypatch, Machine.from_dict({**MACHINE, "memory": memory}), workload)
    assert launches == [0, 1]
    _, launches = simulated(
        monkeypatch, Machine.from_dict({**MACHINE, "memory": {**memory, "translations": "launch"}}), workload
    )
    assert launches == [0]


def test_what_no_room_is_left_for_is_simulated(monkeypatch):
    monkeypatch.setattr(equal, "MOST_HELD", 0)
    machine = Machine.from_dict({**MACHINE, "memory": {**MACHINE["memory"], "l2": L2}})
    workload = Workload.from_dict({"launches": [of(1, 5, 9)] * 4})
    _, simulated_launches = simulated(monkeypatch, machine, workload)
    assert simulated_launches == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "other",
    [
        of(1, 5, 10),  # another chunk
        of(1, 5, 9, store=False),  # fewer operations
        {**of(1, 5, 9), "blocks_per_group": 1},  # another occupancy
        {"blocks": [*of(1, 5, 9)["blocks"], {"warps": [[]]}]},  # a block more
        {"blocks": [{"warps": [[["load", [1, 5, 9]], ["store", [1, 5, 9], 2]]]}]},  # other passes
        {"blocks": [{"warps": [[["load", [1, 5, 9], 1, [[4], [], []]], ["store", [1, 5, 9]]]]}]},  # fewer bytes
        {"blocks": [{"warps": [[["load", [1, 5, 9]]], [["store", [1, 5, 9]]]]}]},  # two warps
    ],
)
def test_one_that_differs_in_anything_is_another(monkeypatch, other):
    machine = Machine.from_dict(
        {**MACHINE, "memory": {**MACHINE["memory"], "sectors": 4, "l2": {**L2, "start": "cold"}}}
    )
    workload = Workload.from_dict({"launches": [of(1, 5, 9), of(1, 5, 9), other, other, of(1, 5, 9), other]})
    _, simulated_launches = simulated(monkeypatch, machine, workload, stalls=True)
    assert simulated_launches == [0, 2]


def test_the_engines_agree_on_launches_that_recur(monkeypatch):
    """Drawn, with whatever L2, L1 and translations a machine has; arrays are used again by launches of other sizes."""
    kinds = st.lists(launches(), min_size=1, max_size=3)
    turns = kinds.flatmap(lambda drawn: st.lists(st.sampled_from(drawn), min_size=3, max_size=7))
    taken = []

    @agreeing(EXAMPLES // 6)
    @given(drawn=several(machines()), turns=turns)
    def agree(drawn, turns):
        workload = Workload.from_dict({"launches": turns})
        for machine in drawn:
            with monkeypatch.context() as own:
                _, simulated_launches = simulated(own, machine, workload, stalls=True)
            taken.append(len(turns) - len(simulated_launches))

    agree()
    assert sum(taken) > EXAMPLES // 12  # or no launch has stood for another
