"""`simtmm machines micro`."""

import json

import pytest

from simtmm.analysis import micro as module
from simtmm.measurement.micro.programs import by_file
from tests.cuda.compilers.conftest import needs_machine_code


@pytest.fixture
def barriers(monkeypatch):
    """Barriers alone."""
    monkeypatch.setattr(module, "by_file", lambda capability: {"barriers.cu": by_file()["barriers.cu"]})


@needs_machine_code
def test_a_row_a_micro_kernel_and_where_limits_come_from(called, barriers, tmp_path):
    (tmp_path / "micro.csv").write_text("gpu,name,cycles\na100,barrier-32-warps,71.5\n")
    status, out, err = called("machines", "micro", "-m", "a100-80", "--measured", str(tmp_path / "micro.csv"))
    assert (status, err) == (0, "")
    lines = {line.split("  ")[0]: line.split() for line in out.splitlines()}
    assert "Micro-kernels on A100 80 GB, one block on one multiprocessor" in out
    assert lines["barrier-1-warp"][-4:] == ["-", "a", "floor", "alone"]
    name, *_, limit, simulated, times, measured = lines["barrier-32-warps"]
    assert (name, limit, measured) == ("barrier-32-warps", "64.00", "71.50")
    assert float(times) == pytest.approx(float(simulated) / 64, abs=0.01)
    assert "barrier-1-warp to barrier-32-warps: CUDA C++ Programming Guide" in out


@needs_machine_code
def test_keys_can_be_changed_and_what_is_too_fast_is_marked(called, barriers):
    changes = ("--set", "scheduling.barrier_latency=0", "--set", "scheduling.barrier_interval=0")
    status, out, _ = called("machines", "micro", "-m", "a100-80", *changes)
    assert status == 0
    (line,) = (line for line in out.splitlines() if line.startswith("barrier-32-warps "))
    assert line.endswith("below its limit")
    document = json.loads(called("machines", "micro", "-m", "a100-80", *changes, "--json")[1])
    assert [each["name"] for each in document["results"] if each["below"]][-1] == "barrier-32-warps"


def test_a_machine_of_another_maker_is_refused(called):
    status, out, err = called("machines", "micro", "-m", "mi210")
    assert (status, out) == (2, "")
    assert "machine MI210: has no compute_capability" in err
    assert err.count("\n") == 1
