"""Programs as people write them for CuPy, each of which compares what it computes with NumPy."""

import importlib
import sys
from pathlib import Path

import pytest

import simtmm
import simtmm.scripts.cupy as cp
from simtmm.scripts.run import run_script
from tests.cuda.compilers.conftest import needs_nvrtc

pytestmark = needs_nvrtc

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"


def test_k_means_is_recorded_launch_by_launch_and_what_ran_in_numpy_is_counted(capfd):
    recording = simtmm.recording("h100-sxm")
    outcome = run_script(PROGRAMS / "k_means.py", ["2"], recording)
    assert capfd.readouterr() == ("400 points of 600 are in the first\n", "")
    kernels = [launch.kernel for launch in recording.trace.info.launches]
    assert kernels == ["assign", "add_up", "assign", "add_up", "variance", "variance", "variance"]
    counted = dict(outcome.unrecorded)
    assert (outcome.status, counted["cupy.divide"], counted["cupy.maximum"], counted["cupy.mean"]) == (0, 2, 2, 3)


def test_the_stand_in_is_one_module_whatever_its_name(tmp_path):
    script = tmp_path / "s.py"
    script.write_text("import cupy\nimport simtmm.scripts.cupy as own\nassert cupy is own, (cupy, own)\n")
    spec = cp.__spec__
    for _ in range(2):
        assert run_script(script, [], simtmm.recording()).status == 0
        assert importlib.import_module("simtmm.scripts.cupy") is cp
        assert (cp.__spec__, "cupy" in sys.modules) == (spec, False)


def test_a_module_with_templates_constants_and_shared_memory():
    recording = simtmm.recording()
    assert run_script(PROGRAMS / "module.py", [], recording).status == 0
    kernels = [launch.kernel for launch in recording.trace.info.launches]
    assert kernels == ["matmul", "matmul", "histogram", "stencil"]


def test_textures_and_surfaces():
    recording = simtmm.recording()
    assert run_script(PROGRAMS / "textures.py", [], recording).status == 0
    assert [launch.kernel for launch in recording.trace.info.launches] == ["magnify", "fill"]


def test_the_page_shows_black_scholes_on_two_machines(called):
    path = ROOT / "docs" / "scripts" / "cupy_black_scholes.py"
    verdicts = []
    for machine in ("h100-sxm", "gtx280"):
        status, out, _ = called("run", path, "-m", machine, "--no-what-if", "--", "--options", "2000", "--timed")
        assert (status, "the kernel takes" in out) == (0, True)
        verdicts += [line for line in out.splitlines() if line.startswith("Verdict: ")]
        assert "     1x black_scholes_elementwise  grid 16  block 128\n     1x black_scholes  grid 8  block 256" in out
    assert len(set(verdicts)) == 2


def test_without_a_machine_the_timing_call_is_one_line(called, tmp_path):
    path = ROOT / "docs" / "scripts" / "cupy_black_scholes.py"
    words = ("record", path, "-o", tmp_path / "t.parquet", "--", "--options", "2000", "--timed")
    status, _, err = called(*words)
    assert (status, err.count("\n")) == (2, 1)
    assert "line 72: elapsed time: is simulated, which needs a machine" in err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import cupy; cupy.nothing", "line 1: cupy.nothing: is not supported by simtmm's stand-in for CuPy"),
        ("import cupyx.jit\ncupyx.jit.rawkernel", "line 2: cupyx.jit.rawkernel: needs CuPy itself"),
        ("import cupy\ncupy.linalg.nothing", "cupy.linalg.nothing: is not supported by simtmm's stand-in for CuPy"),
    ],
)
def test_what_the_stand_in_lacks_is_one_line_that_names_it(text, told, called, script):
    status, out, err = called("run", script(text))
    assert (status, out, told in err, err.count("\n")) == (2, "", True, 1), err
