"""`simtmm record measure` and `simtmm record --on gpu`, without a GPU: behind a stand-in for CuPy."""

import json
import sys

import pytest

from simtmm import load_trace
from simtmm.__main__ import main
from simtmm.measurement import benchmarks
from simtmm.measurement import campaign as everything
from simtmm.measurement.measure import load_measurement
from simtmm.measurement.micro.programs import by_file
from tests.recorder.conftest import needs_compiler
from tests.recorder.ptx_cupy import PtxCupy


@pytest.fixture
def cupy(monkeypatch):
    fake = PtxCupy()
    monkeypatch.setitem(sys.modules, "cupy", fake)
    fake.seconds = lambda name, *shape: 0.01 if name == "simtmm_clock" else 2.5e-6
    return fake


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """The command in this process, in an empty folder: status, output, errors."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["simtmm", *words])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code, *capsys.readouterr()

    return call


@needs_compiler
def test_it_tells_the_times_and_writes_them(command, cupy, tmp_path):
    status, out, err = command(
        "record", "measure", "list-ranking-wyllie", "-p", "n=64", "--repeat", "3", "-o", "m.json"
    )
    assert (status, err) == (0, "")
    assert "list-ranking-wyllie (n=64, threads=128, order=random, seed=0) on Fake GPU" in out
    assert "Time, 3 runs, empty caches" in out
    lines = {line.split("  ")[0]: line.split() for line in out.splitlines()}
    launches = len(load_measurement(tmp_path / "m.json").launches)
    assert lines["launches together"][2] == f"{2.5 * launches:.3g}"
    assert "the answer is right" in out
    assert load_measurement(tmp_path / "m.json").repeat == 3


@needs_compiler
def test_it_prints_one_document_and_nothing_else(command, cupy):
    status, out, err = command(
        "record", "measure", "vector-add", "-p", "n=100", "--repeat", "2", "--warm", "-m", "h200", "--json"
    )
    document = json.loads(out)
    assert (status, err) == (0, "")
    assert (document["kernel"], document["machine"], document["cold"]) == ("vector-add", "h200", False)
    assert document["seconds"] == pytest.approx(2.5e-6)


@needs_compiler
def test_all_is_measured_into_a_folder_and_summed_up(command, cupy, tmp_path, monkeypatch):
    folders = {"vector-add": everything.kernel_folders()["vector-add"]}
    monkeypatch.setattr(everything, "kernel_folders", lambda: folders)
    monkeypatch.setattr(everything, "FACTORS", (1,))
    few = {"CHASE_KIB": (4,), "CHASE_STEPS": 20, "STREAM_BLOCKS": (), "SHARED_STEPS": (), "UPDATES": ()}
    for name, value in few.items():
        monkeypatch.setattr(benchmarks, name, value)
    monkeypatch.setattr(everything, "by_file", lambda capability: {"barriers.cu": by_file()["barriers.cu"]})
    monkeypatch.setattr(everything, "MICRO_SCALE", 1)
    status, out, err = command("record", "measure", "--all", "--repeat", "1", "-o", "made")
    assert (status, err) == (0, "")
    rows = [line.split() for line in out.splitlines()[2:]]
    kinds = {"parity": 1, "benchmarks": 3, "micro": 1, "compiled": 1, "times": 2}
    assert rows == [[kind, str(done), *"0000"] for kind, done in kinds.items()]
    assert (tmp_path / "made" / "fake-gpu" / "times" / "vector-add-n16384.json").is_file()
    status, out, _ = command("record", "measure", "--all", "--minutes", "0", "-o", "made", "--json")
    assert {entry["status"] for entry in json.loads(out)} == {"there"}


@needs_compiler
def test_record_takes_a_gpu_and_says_what_it_left_out(command, cupy, tmp_path):
    status, out, err = command(
        "record", "vector-add", "-p", "n=1000", "--on", "gpu", "--sample-blocks", "2", "--device-memory", "100000"
    )
    assert (status, err) == (0, "")
    assert "2,440 events" in out  # of blocks 1 and 3: 256 and 232 threads, five each
    assert out.strip().endswith("; 2 of 4 blocks left out")
    assert load_trace(tmp_path / "vector-add.parquet").info.provenance["recorder"] == "gpu"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("measure",), "measure: needs a kernel, or --all"),
        (("measure", "stream", "--all"), "measure --all: takes no kernel or parameters"),
        (("measure", "strem"), "kernel 'strem': unknown; did you mean 'stream'?"),
        (("measure", "stream", "-p", "m=3"), "parameter 'm': unknown"),
        (("measure", "stream", "-o", "nowhere/m.json"), "nowhere/m.json: can't be written"),
        (("measure", "stream", "--repeat", "0"), "--repeat"),
        (("record", "stream", "--on", "gp"), "recorder 'gp': unknown; did you mean 'gpu'"),
        (("record", "stream", "--sample-blocks", "0"), "--sample-blocks"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_wrong_words_are_reported_in_a_line(words, line, command, cupy):
    status, out, err = command(*words)
    assert (status, out) == (2, "")
    assert line in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("words", [("measure", "stream"), ("measure", "--all"), ("record", "stream", "--on", "gpu")])
def test_without_cupy_a_line_says_how_to_get_it(words, command, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "cupy", None)
    status, out, err = command(*words)
    assert (status, out) == (2, "")
    assert "pip install '.[cuda12]'" in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_cuda_is_timed_and_recorded_as_it_is(command, cupy, tmp_path):
    pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")
    (tmp_path / "k.cu").write_text(
        "__global__ void twice(int* a, int n) { int i = threadIdx.x; if (i < n) a[i] *= 2; }"
    )
    launch = ["k.cu", "--grid", "1", "--block", "64", "--arg", "a=arange:int32:64", "--arg", "n=40"]
    status, out, err = command("record", "measure", *launch, "--repeat", "2", "-o", "m.json")
    assert (status, err) == (0, "")
    assert "k (seed=0) on Fake GPU" in out
    assert load_measurement(tmp_path / "m.json").launches[0].kernel == "twice"
    status, out, err = command("record", *launch, "--on", "gpu", "-o", "gpu.parquet")
    assert (status, err) == (0, "")
    assert command("record", *launch, "--as", "ptx", "-m", "h100-sxm", "-o", "cpu.parquet")[0] == 0
    assert load_trace("gpu.parquet").info.digest == load_trace("cpu.parquet").info.digest


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["k.cu"], "k.cu: --grid and --block: required"),
        (["vector-add", "--grid", "4"], "--grid: is for a file of device code"),
        (["vector-add", "--as", "sass"], "form = 'sass': must be one of written, compiled, ptx"),
        (["--all", "--as", "compiled"], "measure --all: takes no kernel or parameters"),
    ],
)
def test_what_does_not_go_together_is_told(words, line, command, cupy, tmp_path):
    (tmp_path / "k.cu").write_text("__global__ void f() {}")
    status, out, err = command("record", "measure", *words)
    assert (status, out) == (2, "")
    assert line in err
    assert err.count("\n") == 1
