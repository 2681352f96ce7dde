"""How many warps do something at a place, counted one by one."""

import importlib

import pytest

from simtmm import Workload, load_machine, lower, record
from simtmm.analysis.source_changes.uneven import warps_at_places

uneven = importlib.import_module("simtmm.analysis.source_changes.uneven")  # the package's name is its function


@pytest.mark.parametrize(("kernel", "parameters"), [("vector-add", {"n": 1000}), ("reduce", {"n": 700})])
def test_each_warp_counts_once_at_a_place(kernel, parameters, monkeypatch):
    workload = lower(record(kernel, parameters), load_machine("v100"), places=True)
    assert workload.warps > 3
    counted = [0] * len(workload.known_places)
    for warp in range(workload.warps):
        first, last = workload.warp_operations[warp : warp + 2].tolist()
        for place in set(workload.place[first:last].tolist()):
            counted[place] += 1
    assert warps_at_places(workload).tolist() == counted
    monkeypatch.setattr(uneven, "MOST_COUNTED", len(workload.kind) - 1)
    assert warps_at_places(workload) is None


def test_of_a_workload_without_places_it_is_not_known():
    assert warps_at_places(Workload.from_dict({"blocks": [{"warps": [[["compute", 1]]]}]})) is None
