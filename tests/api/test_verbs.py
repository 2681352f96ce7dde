"""The verbs as functions: the words of the command line, the same answers, and values that show themselves."""

import inspect
import json
from dataclasses import fields
from importlib.util import find_spec

import numpy as np
import pytest

import simtmm
from simtmm.analysis.run import DEFAULT_TRACE, shipped_trace
from simtmm.api.requested import request_of
from simtmm.requests.diff import DiffRequest
from simtmm.requests.run import RunRequest
from simtmm.requests.sweep import SweepRequest
from simtmm.requests.tune import TuneRequest

TRACE = str(shipped_trace(DEFAULT_TRACE))
SAXPY = """__global__ void saxpy(int n, float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
PROGRAM = (
    SAXPY
    + """#include <cstdlib>
int main(int argc, char** argv)
{
    int n = atoi(argv[1]);
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    cudaMemset(y, 0, n * sizeof(float));
    saxpy<<<(n + 127) / 128, 128>>>(n, 2.0f, x, y);
    return cudaDeviceSynchronize();
}
"""
)
compilers = pytest.mark.skipif(find_spec("nvidia.cu13") is None, reason="CUDA's compilers are not installed")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "saxpy.cu").write_text(SAXPY)
    (tmp_path / "program.cu").write_text(PROGRAM)
    return tmp_path


@pytest.mark.parametrize(
    ("function", "request_class", "otherwise"),
    [
        (simtmm.run, RunRequest, {}),
        (simtmm.diff, DiffRequest, {}),
        (simtmm.sweep, SweepRequest, {"source": "study"}),
        (simtmm.tune, TuneRequest, {"model": "models"}),
    ],
)
def test_a_verbs_function_takes_what_its_request_has(function, request_class, otherwise):
    arguments = set(inspect.signature(function).parameters)
    asked = {otherwise.get(each.name, each.name) for each in fields(request_class)}
    assert asked <= arguments
    own = {"watch", "timeline", "timeline_limit", "models", "store", "workers", "cluster", "rules"}
    assert arguments - asked <= own


@pytest.mark.parametrize("function", [simtmm.run, simtmm.diff, simtmm.sweep, simtmm.tune, simtmm.threads])
def test_each_argument_is_in_the_docstring(function):
    text = inspect.getdoc(function)
    missing = [
        name for name in inspect.signature(function).parameters if f"{name}" not in text.replace(",", " ").split()
        and f"{name}:" not in text and not name.endswith(("_a", "_b"))
    ]  # fmt: skip
    assert missing == []


def same(run, document):
    """Whether a run is what the command line printed, apart from the command and what it was run for."""
    mine = json.loads(json.dumps(run.to_dict()))
    return {key: mine[key] for key in ("program", "simulated", "verdict", "bound", "advice")} == {
        key: document[key] for key in ("program", "simulated", "verdict", "bound", "advice")
    }


@compilers
def test_a_cuda_file_is_run_with_arrays_of_numpy(here, called):
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    np.save("x.npy", x)
    np.save("y.npy", y)
    words = ("run", "saxpy.cu", "--grid", "8", "--block", "128", "-m", "a100-80", "--no-what-if", "--json")
    arguments = ("--arg", "n=1000", "--arg", "a=2f", "--arg", "x=x.npy", "--arg", "y=y.npy")
    document = json.loads(called(*words, *arguments)[1])
    given = {"n": 1000, "a": np.float32(2), "x": x, "y": y}
    done = simtmm.run("saxpy.cu", "a100-80", grid=8, block=(128,), args=given, what_if=False)
    assert same(done, document)
    assert (y == 1).all()  # a copy is worked on
    texts = {**given, "x": "arange:float32:1000", "y": "ones:float32:1000"}
    assert same(simtmm.run("saxpy.cu", "a100-80", grid="8", block="128", args=texts, what_if=False), document)


@compilers
def test_a_program_is_run_and_one_that_launches_nothing_is_refused(here):
    done = simtmm.run("program.cu", "a100-80", arguments=[300], what_if=False)
    assert [launch.kernel for launch in done.info.launches] == ["saxpy"]
    assert [launch.grid[0] for launch in done.info.launches] == [3]
    (here / "idle.cu").write_text("int main() { return 3; }")
    with pytest.raises(
        simtmm.SimtmmError, match=r"idle\.cu: ended with exit status 3, and launched nothing to simulate"
    ):
        simtmm.run("idle.cu", "a100-80")


def test_the_machines_keys_and_the_start_are_arguments():
    slow = simtmm.run(TRACE, "gtx280", set={"memory.latency": 1000}, what_if=False)
    fast = simtmm.run(TRACE, "gtx280", set={"memory.latency": 250}, what_if=False)
    assert slow.machine.memory.latency == 1000
    assert slow.result.cycles > fast.result.cycles
    assert simtmm.run(TRACE, "a100-80", start="cold", what_if=False).machine.memory.l2.start == "cold"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"source": "x.cu", "grid": 1, "block": 1}, "x.cu: no such file"),
        ({"source": TRACE, "grid": 1}, "--grid: is for a file of device code"),
        ({"source": TRACE, "start": "hot"}, "start = 'hot': must be warm, cold, kept"),
        ({"source": TRACE, "set": {3: 4}}, "set 3: must be a name"),
        ({"source": TRACE, "set": {"memory.latncy": 4}}, "memory.latncy: unknown key"),
        ({"source": TRACE, "machine": 3}, "machine = 3: must be a Machine, a machine's name"),
        ({"source": TRACE, "arguments": ["x"]}, "'x': arguments are for a Python script or a CUDA program"),
        ({"source": TRACE, "engine": "turbo"}, "engine 'turbo': unknown"),
        ({"source": TRACE, "error": 0.1}, "--error 0.1: needs --sample auto"),
        ({"source": "stream", "parameters": {"m": 4}}, "m"),
        ({"source": TRACE, "shared": -1}, "shared = -1: must be a number of bytes, 0 or more"),
    ],
)
def test_a_mistake_is_one_line(here, words, said):
    with pytest.raises(simtmm.SimtmmError) as refused:
        simtmm.run(**words)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@compilers
def test_an_argument_that_no_launch_takes_is_named(here):
    for value in (None, [1, 2], np.array([None]), 1j):
        with pytest.raises(simtmm.SimtmmError, match=r"args: x = .*: must be a number, a text such as random"):
            simtmm.run("saxpy.cu", grid=1, block=1, args={"x": value})


def test_two_runs_differ_as_on_the_command_line(here, called):
    words = ("diff", TRACE, TRACE, "--machine-a", "gtx280", "--machine-b", "gtx480", "--no-what-if", "--json")
    document = json.loads(called(*words)[1])
    found = simtmm.diff(TRACE, TRACE, machine_a="gtx280", machine_b="gtx480", what_if=False)
    mine = json.loads(json.dumps(found.to_dict()))
    assert (mine["ratio"], mine["reasons"]) == (document["ratio"], document["reasons"])
    runs = [simtmm.run(TRACE, name, what_if=False) for name in ("gtx280", "gtx480")]
    assert simtmm.diff(*runs).to_dict()["reasons"] == found.to_dict()["reasons"]
    assert list(found.to_frame("line")["line"])
    assert "<table>" in found._repr_html_()
    with pytest.raises(simtmm.SimtmmError, match="by = 'lines': unknown; did you mean 'line'\\?"):
        found.to_frame("lines")
    with pytest.raises(simtmm.SimtmmError, match="is a finished run, which can't be changed"):
        simtmm.diff(*runs, set_a={"memory.latency": 3})


@compilers
def test_a_side_has_its_own_launch(here, called):
    given = {"n": 64000, "a": 2.0, "x": "ones:float32:64000", "y": "ones:float32:64000"}
    both = {"block": 128, "args": given, "machine": "a100-80", "what_if": False}
    found = simtmm.diff("saxpy.cu", "saxpy.cu", grid_a=500, grid_b=1, args_b={"n": 100}, **both)
    assert found.a.cycles > found.b.cycles
    differ = [{name: side.parameters[name] for name in ("grid", "n")} for side in (found.a, found.b)]
    assert differ == [{"grid": 500, "n": 64000}, {"grid": 1, "n": 100}]
    assert "block" not in found.a.parameters  # which is the same
    words = [f"--arg={name}={value}" for name, value in given.items()]
    command = ("diff", "saxpy.cu", "saxpy.cu", "--grid-a", "500", "--grid-b", "1", "--arg-b", "n=100", *words, "--json")
    status, out, _ = called(*command, "--block", "128", "-m", "a100-80", "--no-what-if")
    assert status == 0
    assert json.loads(out)["ratio"] == found.ratio


@compilers
def test_two_programs_are_compared_and_repeat_exactly(here):
    (here / "small.cu").write_text(PROGRAM.replace("atoi(argv[1])", "200"))
    (here / "large.cu").write_text(PROGRAM.replace("atoi(argv[1])", "100000"))
    found = simtmm.diff("small.cu", "large.cu", "a100-80", what_if=False)
    assert found.ratio > 1
    assert simtmm.diff("small.cu", "small.cu", "a100-80", what_if=False).ratio == 1


def test_an_explanation_is_rows_a_page_and_a_file(here):
    found = simtmm.explain(TRACE, "gtx280", by="array", what_if=False)
    assert {row["array"] for row in found.rows()} == set(found.to_frame()["array"])
    assert found.html().lower().startswith("<!doctype html>")
    shown = found._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "<script" not in shown  # it is escaped
    for name in ("a.html", "a.csv", "a.json"):
        found.save(name)
        assert (here / name).stat().st_size > 100
    with pytest.raises(simtmm.SimtmmError, match=r"a\.txt: must end in \.html, \.csv or \.json"):
        found.save("a.txt")
    with pytest.raises(simtmm.SimtmmError, match=r"by = 'lines': must be one of line, .*; did you mean 'line'"):
        simtmm.explain(TRACE, by="lines")


def test_a_sweep_by_words_is_the_sweep_of_its_tables():
    words = simtmm.sweep(TRACE, workers=1, machine="gtx480", vary={"memory.latency": [200, 400]}, compute="simulated")
    tables = simtmm.sweep(
        {"program": TRACE, "machines": ["gtx480"], "axes": {"memory.latency": "200,400"}, "compute": ["simulated"]},
        workers=1,
    )
    assert words.to_frame().equals(tables.to_frame())
    with pytest.raises(simtmm.SimtmmError, match="vary: can't be combined with a study's tables"):
        simtmm.sweep({"program": TRACE}, vary={"memory.latency": [1]})


@compilers
def test_tune_without_a_choice_tries_shapes():
    found = simtmm.tune("copy", "gtx280", workers=1, store=":memory:")
    assert set(found.axes) <= {"threads", "blocks"}
    assert "<table>" in found._repr_html_()
    assert list(found.to_frame()["cycles"]) == sorted(found.to_frame()["cycles"])
    tuned = simtmm.tune("copy", "gtx280", {"threads": [64, 128]}, workers=1, store=":memory:", error="5%")
    assert [each.configuration["threads"] for each in tuned.trials] == [64, 128]
    with pytest.raises(simtmm.SimtmmError, match="--trials: needs --sampler"):
        simtmm.tune("copy", over={"threads": [64]}, trials=3)
    with pytest.raises(simtmm.SimtmmError, match="sampler: trails: must be name, trials or seed"):
        simtmm.tune("copy", over={"threads": [64]}, sampler={"name": "tpe", "trails": 3})


def test_questions_of_one_answer_are_functions_too():
    needed = simtmm.threads(TRACE, "gtx480")
    assert list(needed.to_frame()["threads_per_core"]) == [probe[0] for probe in needed.probes]
    found = simtmm.zigzag(TRACE, "gtx480", blocks=range(1, 4))
    assert list(found.to_frame()["blocks"]) == [1, 2, 3]
    won = simtmm.crossover("apsp-johnson-array", "apsp-dynamic-programming", "gtx480", {"n": 1000}, over="m")
    assert list(won.crossovers) == ["m"]
    for value in (needed, found, won):
        assert value._repr_html_()


def test_a_bar_of_a_terminal_is_drawn_in_a_notebook():
    shown = simtmm.run(TRACE, "gtx280", what_if=False)._repr_html_()
    assert "####" not in shown
    assert "background:" in shown


def test_a_request_takes_a_text_where_several_are_expected():
    request = request_of(RunRequest, {"source": "x.cu", "build": "-O3", "arguments": (1, "a"), "stop_after": 3})
    assert (request.build, request.arguments, request.stop_after) == (["-O3"], ["1", "a"], "3")


@compilers
def test_a_file_a_program_and_a_kernel_are_recorded(here):
    given = {"n": 300, "a": 2.0, "x": np.ones(300, np.float32), "y": np.zeros(300, np.float32)}
    of_file = simtmm.record("saxpy.cu", grid=3, block=128, args=given)
    of_program = simtmm.record("program.cu", arguments=[300])
    assert of_file.info.events == of_program.info.events
    assert (
        simtmm.record("copy", {"n": 64}).info.kernel == simtmm.record(kernel="copy", parameters={"n": 64}).info.kernel
    )
    with pytest.raises(simtmm.SimtmmError, match="--grid: is for a file of device code"):
        simtmm.record("copy", grid=3)
    with pytest.raises(simtmm.SimtmmError, match="races: is not for a CUDA program"):
        simtmm.record("program.cu", arguments=[300], races=True)
