"""The worked cases of the machine rules: every engine reproduces every one of them exactly."""

import json
from pathlib import Path

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

GOLDEN = Path(__file__).parents[1] / "golden" / "named.json"
SHARED = Path(__file__).parents[3] / "shared" / "vectors"
NAMED = json.loads(GOLDEN.read_text())


def report(case, engine):
    result = simulate(Machine.from_dict(case["machine"]), Workload.from_dict(case["workload"]), engine)
    return {key: dict(result.time) if key == "time" else getattr(result, key) for key in case["expected"]}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", NAMED, ids=lambda case: case["name"])
def test_a_named_case_comes_out_to_the_tick(case, engine):
    assert report(case, engine) == case["expected"], case["about"]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared vectors stand beside the project, not in it")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("file", ["named.json", "random.json"])
def test_every_shared_vector_comes_out_to_the_tick(file, engine):
    cases = json.loads((SHARED / file).read_text())
    wrong = [case["name"] for case in cases if report(case, engine) != case["expected"]]
    assert len(cases) >= 51
    assert wrong == []
