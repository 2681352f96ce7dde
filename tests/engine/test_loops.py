"""The loops of the fast engine as they are compiled, with a look at each index, and as the Python that they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import one_of

from simtmm import Machine, Workload, simulate
from simtmm.engine.fast.launches import launch, part, reused
from simtmm.engine.fast.steps import loop
from simtmm.engine.fast.supply import operations as supply
from simtmm.native import Loop, as_python
from simtmm.testing import machines, workloads
from tests.engine.test_jump import long_computes
from tests.examples import SHARING, examples, several

OTHERS = ((launch, "_SHORTEST_BLOCKS"), (supply, "_WARM"), (reused, "_EMPTY"), (reused, "_SETTLE"))


class AsPython:
    """A loop as Python runs it."""

    def __init__(self, function):
        self.function, self._run = function, as_python(function)

    def __call__(self, *arguments):
        return self._run(*arguments)

    def bind(self, *arguments):
        return lambda: self._run(*arguments)


@pytest.fixture
def looked_after(monkeypatch):
    """Loops that raise where an index is outside of its array."""
    run = Loop(loop.run, ("coupled", "switch", "memory", "order"), checked=True)
    monkeypatch.setattr(launch, "RUN", run)
    for module, name in OTHERS:
        monkeypatch.setattr(module, name, Loop(getattr(module, name).function, checked=True))
    return run


def test_no_index_is_outside_of_its_array(looked_after, monkeypatch):
    monkeypatch.setattr(part, "WORTH_SHARING", 0)
    monkeypatch.setattr(launch, "LONG_COMPUTE", 1)

    @examples(60 // SHARING)
    @given(drawn=several(machines()), workload=one_of(workloads(), long_computes()))
    def agree(drawn, workload):
        for machine in drawn:
            fast = simulate(machine, workload, "fast", threads=2, stalls=True)
            assert fast == simulate(machine, workload, "reference", stalls=True)
            simulate(machine, workload, "fast", timeline=True)

    agree()


def test_an_index_outside_would_be_reported(looked_after, monkeypatch):
    monkeypatch.setattr(launch, "empty_groups", lambda groups: np.zeros((groups, 5), dtype=np.int64))

    @examples(1)
    @given(machine=machines(), workload=workloads())
    def run(machine, workload):
        with pytest.raises(IndexError, match=r"simtmm\.engine\.fast"):
            simulate(machine, workload, "fast")

    run()


MACHINE = Machine.from_dict({
    "name": "small",
    "cores": {"groups": 2, "cores_per_group": 2, "warp_width": 2, "max_threads_per_core": 2},
    "memory": {"latency": 10, "chunk_words": 1},
})  # fmt: skip
WARP = [["compute", 3], ["load", [1, 9]], ["async", [4]], ["barrier"], ["shared", 2], ["join", 0], ["store", [1]]]
KINDS = {
    "plain": {},
    "fifo": {"scheduling.scheduler": "fifo"},
    "instructions": {"scheduling.switch": "every-instruction", "scheduling.scheduler": "oldest"},
    "partitions": {"memory.partitions": 2, "memory.service": 3, "memory.interleave": "hash"},
    "caches": {
        "memory.l1": {"sets": 2, "ways": 2, "latency": 2},
        "memory.l2": {"sets": 2, "ways": 2, "latency": 5, "start": "warm", "writes": "back"},
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_loops_are_python_as_well(kind, monkeypatch):
    """Slow, and the same result: so what compiles them has read them as Python does."""
    machine = MACHINE.replace(KINDS[kind])
    workload = Workload.from_dict({"blocks": [{"warps": [WARP, WARP]}] * 5})
    compiled = simulate(machine, workload, "fast", timeline=True)
    for module, name in ((launch, "RUN"), *OTHERS):
        monkeypatch.setattr(module, name, AsPython(getattr(module, name).function))
    with np.errstate(over="ignore"):  # numbers wrap around where chunks are hashed
        assert simulate(machine, workload, "fast", timeline=True, threads=1) == compiled
