"""Plain CUDA on the command line: which commands take it, what they compile for, and one line where they do not."""

import json
import subprocess
import sys
import time

import pytest

from simtmm import load_trace
from simtmm.machine import load_machine
from simtmm.recorder.compiled import record as recorder
from simtmm.study.design.stored_design import stored_design
from simtmm.study.store.store import Store
from simtmm.study.sweep import read

pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")

SAXPY = """__global__ void saxpy(int n, float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) printf("n is %d\\n", n);
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
LAUNCH = ("--grid", "8", "--block", "32", "--arg", "n=256", "--arg", "a=2f")
ARRAYS = ("--arg", "x=arange:float32:256", "--arg", "y=ones:float32:256")
LAUNCHES = """source = "saxpy.cu"
[[launch]]
grid = 8
block = 32
arguments = [256, 2.0, "arange:float32:256", "ones:float32:256"]
"""
HOST = """\"\"\"Plain.\"\"\"
import numpy as np
from simtmm.kernel import Launch, Parameter
PARAMETERS = {"n": Parameter(256, "elements", minimum=1)}
def inputs(p):
    return {"x": np.ones(p.n, np.float32), "y": np.ones(p.n, np.float32)}
def launches(p, memory):
    yield Launch("saxpy", (p.n, 2.0, "x", "y"), -(-p.n // 32), 32)
def check(p, before, after):
    assert (after["y"] == 3).all()
"""
# Of these, the two on the left have one architecture; the GTX 280 and the V100 are compiled for alike, as the oldest.
MACHINES = ("a100-80", "a100-40", "h100-sxm", "v100", "gtx280")


PLAIN_MACHINE = """
name = "plain"
clock_hz = 1e9
cores = { groups = 2, cores_per_group = 8, warp_width = 32, max_threads_per_core = 16 }
memory = { latency = 100, chunk_words = 32 }
"""


@pytest.fixture
def here(tmp_path, monkeypatch, nothing_kept):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "saxpy.cu").write_text(SAXPY)
    (tmp_path / "launches.toml").write_text(LAUNCHES)
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "kernel.cu").write_text(SAXPY.replace('    if (i == 0) printf("n is %d\\n", n);\n', ""))
    (tmp_path / "plain" / "host.py").write_text(HOST)
    return tmp_path


@pytest.fixture
def architectures(monkeypatch):
    """What kernels are compiled for, a recording each."""
    asked = []
    of = recorder.module_of

    def seen(kernel, parameters, architecture):
        asked.append(architecture)
        return of(kernel, parameters, architecture)

    monkeypatch.setattr(recorder, "module_of", seen)
    return asked


def test_a_cuda_file_runs_on_an_h100_where_no_machine_is_named(here, called):
    status, out, _ = called("run", "saxpy.cu", *LAUNCH, *ARRAYS)
    assert status == 0
    assert out.startswith("n is 256\nsaxpy (seed=0) on H100 SXM, from a warm L2\n")


def test_what_a_kernel_prints_is_kept_out_of_the_json_document(here, called):
    _, out, err = called("run", "saxpy.cu", *LAUNCH, *ARRAYS, "--json")
    assert json.loads(out)["program"] == "saxpy"
    assert "n is 256" in err


def test_a_trace_says_what_the_machine_asked_for(here, called):
    status, _, _ = called("record", "saxpy.cu", *LAUNCH, *ARRAYS, "--machine", "a100-80", "-o", "t.parquet")
    assert status == 0
    info = load_trace("t.parquet").info
    assert (info.form, info.architecture) == ("compiled", "sm_80")


@pytest.mark.parametrize("words", [("run",), ("run", "--models-only"), ("sweep", "threads"), ("sweep", "compare")])
@pytest.mark.parametrize("source", ["launches.toml", "plain"])
def test_launches_and_plain_folders_are_compiled_for_the_machine_or_it_is_reported(
    here, called, architectures, words, source
):
    status, out, _ = called(*words, source, "--machine", "gtx280")
    assert status == 0
    assert "Compiled for sm_75, the nearest that the compiler knows to GeForce GTX 280's compute capability 1.3." in out
    assert architectures == [75]


@pytest.mark.parametrize("source", ["launches.toml", "plain"])
def test_a_comparison_records_once_for_each_architecture(here, called, architectures, source):
    words = [word for machine in MACHINES for word in ("--machine", machine)]
    status, out, _ = called("sweep", "compare", source, *words, "--model", "tmm")
    assert status == 0
    assert sorted(architectures) == [75, 80, 90]
    assert out.count("Warning: Compiled for sm_75") == 2


VARIED = (("sweep", "--vary", "n=64,128"), ("tune advise", "--vary", "n=64,128"), ("sweep compare", "-p", "n=64,128"))


@pytest.mark.parametrize("words", VARIED)
def test_what_a_kernel_prints_is_kept_out_of_a_studys_document(here, called, words):
    (here / "plain" / "kernel.cu").write_text(SAXPY)
    status, out, err = called(*words[0].split(), "plain", *words[1:], "-j", "1", "--json")
    assert status == 0
    assert json.loads(out)
    assert "n is 64\nn is 128\n" in err


def test_what_a_kernel_prints_in_another_process_is_kept_out_of_the_document(here):
    once = f"// {time.time_ns()}\n"  # of which no trace is kept from another run
    (here / "plain" / "kernel.cu").write_text(SAXPY + once)
    command = [sys.executable, "-m", "simtmm", "sweep", "plain", "--vary", "n=64,128", "-j", "2", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert json.loads(done.stdout)
    assert "n is 64\n" in done.stderr


def test_points_of_machines_that_are_compiled_for_differently_are_not_one(here, called, architectures):
    """What a kernel is compiled for is not in a machine's digest."""
    for name, capability in (("one", "8.0"), ("other", "9.0")):
        (here / f"{name}.toml").write_text(f'compute_capability = "{capability}"\n{PLAIN_MACHINE}')
    status, out, _ = called("sweep", "plain", "-m", "one.toml", "-m", "other.toml", "-j", "1", "--json")
    assert status == 0
    first, second = json.loads(out)["points"]
    assert first["key"] != second["key"]
    assert sorted(architectures) == [80, 90]
    with Store("plain.sqlite", make=False) as store:  # as a report reads it, which runs no kernel
        assert read(stored_design(store.study(), store.path), store).number("done") == 2


def test_a_sweep_records_once_for_each_architecture(here, called, architectures):
    words = [word for machine in MACHINES for word in ("--machine", machine)]
    status, out, _ = called("sweep", "plain", *words, "--vary", "memory.latency=100,200", "-j", "1")
    assert status == 0
    assert "10 points: 10 done" in out
    assert sorted(architectures) == [75, 80, 90]


def test_a_kernel_with_macros_is_recorded_in_the_form_that_is_requested(here, called, architectures):
    assert (
        called("run", "--models-only", "vector-add", "-p", "n=64", "--as", "compiled", "--machine", "a100-80")[0] == 0
    )
    assert architectures == [80]
    assert called("run", "--models-only", "vector-add", "-p", "n=64", "--as", "written", "--machine", "a100-80")[0] == 0
    assert architectures == [80]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("sweep", "threads", "saxpy.cu"),
            "saxpy.cu: needs its launches: simtmm run, diff, record and record measure have --grid, --block and "
            "--arg; other commands need a file of launches (.toml)",
        ),
        (("compare", "saxpy.cu"), "saxpy.cu: needs its launches"),
        (
            ("sweep", "saxpy.cu", "--vary", "memory.latency=1,2"),
            "saxpy.cu: is not a kernel for simtmm sweep: must be a folder",
        ),
        (("sweep", "launches.toml"), "launches.toml: is not a kernel for simtmm sweep: must be a folder"),
        (("advise", "launches.toml"), "none of threads, blocks, sub_block, side is free to vary: name what to vary"),
        (("run", "plain", "--grid", "8"), "--grid: is for a file of device code (.cu, .ptx, .cubin, .fatbin), not"),
        (("run", "--as", "compiled"), "list-ranking-wyllie.parquet: form = 'compiled': can only be given to a kernel"),
        (("run", "plain", "--as", "compield"), "form = 'compield': must be one of written, compiled, ptx"),
        (("run", "saxpy.cu", *LAUNCH, *ARRAYS, "--as", "written"), "kernel saxpy: saxpy.cu: is recorded as compiled;"),
    ],
)
def test_what_is_not_taken_is_one_line(here, called, words, said):
    status, out, err = called(*words)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert not list(here.glob("*.sqlite*")) + list(here.glob("*.parquet"))


def test_ctrl_c_while_compiled_code_is_called_is_an_interruption(here, called, monkeypatch):
    def interrupted(*_, **__):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error

    monkeypatch.setattr("simtmm.analysis.run.run_program", interrupted)
    assert called("run", "launches.toml")[0] == 130


def test_machines_of_the_tests_are_what_they_are_for():
    assert [load_machine(name).compute_capability for name in MACHINES] == ["8.0", "8.0", "9.0", "7.0", "1.3"]
