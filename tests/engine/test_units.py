"""What goes on beside warps: copies in bulk under way, and pipes of products taken (docs/machine.md, section 7)."""

import numpy as np
import pytest

from simtmm.engine import simulate
from simtmm.engine.fast.launches.reused import Reused
from simtmm.machine import Machine
from simtmm.workload import Workload

GROUP = {"groups": 1, "cores_per_group": 1, "warp_width": 1, "max_threads_per_core": 4}


@pytest.fixture(autouse=True)
def whatever_was_there(monkeypatch):
    """Rows that nobody has written hold what no unit is like."""
    anything = Reused.anything

    def filled(self, *arguments):
        found = anything(self, *arguments)
        found[...] = np.arange(1000, 1000 + found.size).reshape(found.shape)  # each ends after it begins
        return found

    monkeypatch.setattr(Reused, "anything", filled)


def units(memory, products, *warps, launches=1):
    """The units of a run on both engines, which agree."""
    document = {"cores": GROUP, "memory": {"latency": 20, "chunk_words": 1, **memory}, **products}
    machine = Machine.from_dict({**document, "name": "one"})
    blocks = [{"warps": [list(map(list, warp)) for warp in warps]}]
    workload = Workload.from_dict({"launches": [{"blocks": blocks}] * launches})
    found = [simulate(machine, workload, engine, timeline=True).units for engine in ("reference", "fast")]
    assert found[0] == found[1]
    return found[0]


def rows(found):
    """Unit, begin, end and count of each interval."""
    return list(zip(*(getattr(found, name).tolist() for name in ("unit", "begin", "end", "count")), strict=True))


def test_copies_that_overlap_are_under_way_together():
    found = units({"copy_interval": 5}, {}, [("copy", [0]), ("copy", [1]), ("pause", 40), ("copy", [2])])
    # The second begins 5 behind the first, at 6 and not at 2, when its instruction has left the port.
    assert rows(found) == [(0, 1, 26, 2), (0, 43, 63, 1)]
    assert found.copying.tolist() == [0]
    assert found.multiplying.tolist() == []


def test_a_pipe_is_taken_by_products_that_follow_one_another():
    pipe = {"products": {"interval": 4, "latency": 9, "count": 2}}
    found = units({}, pipe, [("product", 2), ("product", 1), ("pause", 30), ("product", 1)], [("product", 3)])
    assert rows(found) == [(1, 0, 12, 2), (1, 30, 34, 1), (2, 0, 12, 1)]  # the latency keeps no pipe
    assert found.multiplying.tolist() == [0, 1]


def test_each_launch_has_its_own_intervals():
    found = units({}, {"products": {"interval": 4}}, [("product", 1)], launches=2)
    assert rows(found) == [(1, 0, 4, 1), (1, 4, 8, 1)]
    assert found.multiplying.tolist() == [0, 1]


@pytest.mark.parametrize("engine", ["reference", "fast"])
def test_only_a_timeline_has_units(engine):
    machine = Machine.from_dict({"name": "one", "cores": GROUP, "memory": {"latency": 20, "chunk_words": 1}})
    workload = Workload.from_dict({"blocks": [{"warps": [[["copy", [0]]]]}]})
    assert simulate(machine, workload, engine).units is None


def test_a_product_that_takes_no_time_takes_no_pipe():
    found = units({}, {"products": {"interval": 0}}, [("product", 1), ("pause", 3), ("product", 1)])
    assert rows(found) == []
    assert found.multiplying.tolist() == [0]
