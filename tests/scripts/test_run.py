"""A script is run as Python runs it, and ends as it ends there."""

import json
import subprocess
import sys

import pytest

import simtmm
from simtmm.errors import RecordingError
from simtmm.scripts.run import Outcome, run_script
from tests.cuda.compilers.conftest import needs_nvrtc

LAUNCHES = '''
import simtmm
import numpy as np
kernel = simtmm.RawKernel("""extern "C" __global__ void add_one(float* x) { x[threadIdx.x] += 1; }""", "add_one")
x = np.zeros(32, np.float32)
kernel((1,), (32,), (x,))
np.testing.assert_array_equal(x, np.ones(32))
'''
ABOUT = """
import sys, inspect, __main__
print(__name__, __file__, sys.argv, sys.path[0], __main__.__file__, __package__)
def own(): pass
print(inspect.getsource(own).strip(), sys.modules["__main__"].own is own)
"""
ENDS = [
    ("import sys; sys.exit()", 0, ""),
    ("import sys; sys.exit(7)", 7, ""),
    ("import sys; sys.exit('it is over')", 1, "it is over\n"),
    ("raise SystemExit(0)", 0, ""),
    ("def f():\n    return 1 / 0\nf()", 1, None),
    ("def f(:\n", 1, None),
    ("try:\n    {}[1]\nexcept KeyError as e:\n    raise ValueError('other') from e", 1, None),
    ("import sys\nsys.excepthook = lambda *what: print('hooked', what[0].__name__)\n[][1]", 1, ""),
    ("import logging; logging.basicConfig(format='%(message)s', level=20); logging.info('told')", 0, "told\n"),
    ("import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.2), print('late'))).start()", 0, ""),
]

pytestmark = needs_nvrtc


def as_python(path, *arguments):
    done = subprocess.run([sys.executable, path, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("text", "status", "told"), ENDS)
def test_output_errors_and_exit_status_are_those_of_python(text, status, told, script, capfd):
    path = script(text)
    found = run_script(path, [], simtmm.recording())
    out, err = capfd.readouterr()
    assert (found.status, out, err) == as_python(path)
    assert (found.status, err) == (status, err if told is None else told)


def test_a_script_finds_the_interpreter_as_python_leaves_it_and_leaves_it_as_it_was(script, capfd):
    path = script(ABOUT)
    before = sys.argv, list(sys.path), sys.modules["__main__"], sys.excepthook
    run_script(path, ["--n", "5"], simtmm.recording())
    assert capfd.readouterr().out == as_python(path, "--n", "5")[1]
    assert (sys.argv, sys.path, sys.modules["__main__"], sys.excepthook) == before


def test_modules_beside_the_script_are_found_and_gone_when_it_has_ended(script, capfd):
    script("VALUE = 'of the neighbour'", "a_neighbour_of_the_script.py")
    path = script("import a_neighbour_of_the_script as n; print(n.VALUE)")
    assert run_script(path, [], simtmm.recording()) == Outcome(0)
    assert capfd.readouterr().out == "of the neighbour\n"
    assert "a_neighbour_of_the_script" not in sys.modules


def test_what_was_launched_before_sys_exit_is_recorded_and_before_an_exception_is_not(script):
    ended, failed = simtmm.recording(), simtmm.recording()
    assert run_script(script(LAUNCHES + "raise SystemExit(3)"), [], ended).status == 3
    assert run_script(script(LAUNCHES + "raise ValueError"), [], failed).status == 1
    assert [launch.kernel for launch in ended.trace.info.launches] == ["add_one"]
    assert "extern" in ended.sources["add_one.cu"][0]
    with pytest.raises(RecordingError, match="it ended with an error"):
        _ = failed.trace


def test_a_framework_that_is_not_installed_is_told_with_what_brings_it(script, capfd, monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)  # as Python has what can't be imported
    monkeypatch.setattr("simtmm.scripts.framework.known_adapters", list)
    assert run_script(script("import triton"), [], simtmm.recording()).status == 1
    error = capfd.readouterr().err.splitlines()
    assert error[-2].startswith("ModuleNotFoundError: ")
    assert error[-1] == "simtmm: note: triton comes with pip install '.[triton]' in simtmm's checkout"


def test_an_error_of_simtmm_that_the_script_did_not_catch_names_its_line(script):
    path = script(LAUNCHES + "kernel((1,), (32,), (x, 1))")
    with pytest.raises(simtmm.SimtmmError, match=rf"{path.name}, line 8: .*2 arguments: must be 1"):
        run_script(path, [], simtmm.recording())


def test_a_script_that_is_not_there_is_one_line(called):
    status, out, err = called("run", "nowhere.py")
    assert (status, out, err) == (2, "", "simtmm: error: 'nowhere.py': no such script\n")


def test_record_writes_the_trace_and_lists_launches_and_run_gives_the_verdict(script, called, tmp_path):
    path = script("import sys; print(sys.argv[1:])" + LAUNCHES)
    trace = tmp_path / "t.parquet"
    status, out, _ = called("record", path, "-o", trace, "--", "--n", "5")
    lines = out.splitlines()
    assert (status, lines[:3]) == (0, ["['--n', '5']", "1 launch of script:", "     1x add_one  grid 1  block 32"])
    assert [launch.kernel for launch in simtmm.load_trace(trace).info.launches] == ["add_one"]
    status, out, _ = called("run", path, "-m", "h100-sxm", "--no-what-if")
    assert status == 0
    assert "Verdict: " in out


def test_the_command_ends_with_the_status_of_the_script(script, called, tmp_path):
    path = script(LAUNCHES + "raise SystemExit(9)")
    assert called("record", path, "-o", tmp_path / "t.parquet")[0] == 9
    assert (tmp_path / "t.parquet").exists()
    failing = script(LAUNCHES + "[][0]", "failing.py")
    status, _, err = called("record", failing, "-o", tmp_path / "none.parquet")
    assert (status, err.splitlines()[-2:]) == (
        1, ["IndexError: list index out of range", f"simtmm: {failing} ended with an exception: there is no trace"]
    )  # fmt: skip
    assert not (tmp_path / "none.parquet").exists()
    nothing = script("pass", "none.py")
    status, _, err = called("run", nothing)
    assert (status, err) == (0, f"simtmm: {nothing}: launched no kernel, so there is nothing to record\n")
    assert called("record", nothing, "-o", tmp_path / "none.parquet")[0] == 2


def test_an_interrupt_ends_the_script_and_the_command(script, called):
    status, out, err = called("run", script("print('begun', flush=True)\nraise KeyboardInterrupt\n"))
    assert (status, out, err) == (130, "begun\n", "simtmm: interrupted\n")
    with simtmm.recording():  # none is under way any more
        pass


def test_other_commands_say_what_takes_a_script(script, called):
    status, _, err = called("sweep", "compare", script("pass"))
    assert (status, err.count("\n")) == (2, 1)
    assert "is a Python script, for simtmm run, diff and record" in err


def test_a_document_has_what_the_script_ended_with_and_nothing_of_what_it_printed(script, called):
    path = script("print('of the script')" + LAUNCHES + "raise SystemExit(3)")
    status, out, err = called("run", path, "--no-what-if", "--json")
    assert (status, json.loads(out)["script"]) == (3, {"status": 3, "not_recorded": {}, "notes": []})
    assert err.startswith("of the script\n1 launch of script:\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("saxpy", "5"), "arguments are for a Python script or a CUDA program, but saxpy is neither"),
        (("saxpy", "--launch", "3"), "--launch: is for a Python script"),
        (("SCRIPT", "--grid", "3"), "--grid: is not for a Python script"),
        (("SCRIPT", "--kernel", "other"), "recorded none of its 1 launches: --kernel other selects none of them"),
    ],
)
def test_options_that_are_for_something_else_are_refused_in_one_line(words, told, script, called):
    path = str(script(LAUNCHES))
    status, _, err = called("run", *(path if word == "SCRIPT" else word for word in words))
    assert (status, told in err, err.count("\n")) == (2, True, 1)


def test_arguments_of_a_file_of_kernels_are_said_to_go_behind_arg(called, tmp_path):
    path = tmp_path / "scale.cu"
    path.write_text("__global__ void scale(float *x) { x[threadIdx.x] *= 2; }\n")
    status, _, err = called("run", path, "5")
    assert (status, err.count("\n")) == (2, 1)
    assert err.endswith("scale.cu is neither: give those of a kernel by --arg, as --arg 5\n")


@pytest.mark.parametrize(("module", "name"), [("taichi", "Taichi"), ("tinygrad", "tinygrad")])
def test_a_framework_without_an_adapter_is_named_where_a_script_fails(script, called, tmp_path, module, name):
    (tmp_path / f"{module}.py").write_text("def init(): raise RuntimeError('libcuda.so.1: no such file')")
    status, _, err = called("run", script(f"import {module}\n{module}.init()"))
    assert status == 1
    known = "only those of CuPy, Numba CUDA, Triton and simtmm.RawKernel can"
    assert err.splitlines()[-1] == f"simtmm: note: {name}'s launches can't be recorded: {known}"
    assert f"{name}'s launches" in called("run", script(f"import {module}.lang", "missing.py"))[2]


def test_what_a_library_imports_is_no_framework_of_the_scripts(script, called, monkeypatch):
    monkeypatch.setitem(sys.modules, "taichi", type(sys)("taichi"))  # as Numba's packages load NVIDIA's bindings
    status, _, err = called("run", script("import sys\n1 / 0"))
    assert status == 1
    assert err.splitlines()[-1] == "ZeroDivisionError: division by zero"


def test_a_scripts_dates_are_of_its_clock_and_are_pythons(script, called):
    text = """
import datetime as module, pickle, sys, time
from datetime import date, datetime
import numpy as np, simtmm
kernel = simtmm.RawKernel('extern "C" __global__ void one(float *x) { *x = 1; }', "one")
begin, day, other = datetime.now(), time.time(), module.datetime.now(module.timezone.utc)
kernel((1,), (1,), (np.zeros(1, np.float32),))
time.sleep(7200)
assert __import__("sys", fromlist=["path"]) is sys and __import__(name="datetime", globals=globals()) is module
took = (datetime.now() - begin).total_seconds()
assert 7200 < took < 7201 and abs(took - (time.time() - day)) < 1e-3, took
assert abs((module.datetime.now(module.timezone.utc) - other).total_seconds() - took) < 1e-3
assert abs((datetime.utcnow() - other.replace(tzinfo=None)).total_seconds() - took) < 1e-3
assert (datetime.today() - begin).total_seconds() >= took
real = type(begin)
assert isinstance(begin, datetime) and real is not datetime and issubclass(real, datetime)
assert real is sys.modules["datetime"].datetime
assert datetime(2020, 1, 2, fold=1) == real(2020, 1, 2) == datetime.strptime("2020-01-02", "%Y-%m-%d")
assert pickle.loads(pickle.dumps(datetime(2020, 1, 2))) == real(2020, 1, 2)
assert not isinstance(date(2020, 1, 2), datetime)
class Own(datetime):
    pass
assert type(Own.now()) is Own and isinstance(Own(2020, 1, 2), datetime) and not isinstance(begin, Own)
print("over")
"""
    status, out, err = called("run", script(text), "-m", "h100-sxm", "--no-what-if")
    assert (status, out.splitlines()[0]) == (0, "over"), err


def test_a_scripts_own_clocks_show_the_machines_time(script, called):
    text = """
import time, timeit, threading
from time import perf_counter
import numpy as np, simtmm
kernel = simtmm.RawKernel('extern "C" __global__ void spin(float *x, int n) { for (int i = 0; i < n; i++) *x += i; }',
                          "spin")
x = np.zeros(1, np.float32)
begin, wall, day = perf_counter(), time.monotonic_ns(), time.time()
kernel((1,), (1,), (x, 1000))
first = perf_counter() - begin
time.sleep(3600)
slept = perf_counter() - begin - first
assert abs((time.monotonic_ns() - wall) * 1e-9 - slept - first) < 1e-4
assert abs(time.time() - day - slept - first) < 1e-3
assert timeit.timeit(lambda: None, number=10) < 1e-5
print(f"{first:.2e} {slept:.6f} {threading.Event().wait(0.01)}")
"""
    printed = []
    for _ in range(2):
        status, out, err = called("run", script(text), "-m", "h100-sxm", "--no-what-if")
        assert status == 0, err
        printed.append(out.splitlines()[0])
    assert printed[0] == printed[1]
    first, slept, _ = printed[0].split()
    assert 1e-6 < float(first) < 1e-2
    assert float(slept) == pytest.approx(3600, abs=1e-3)
    status, out, _ = called(
        "run",
        script("import time\nb = time.perf_counter()\nwhile time.perf_counter() - b < 1e-3: pass\nprint('over')"),
        "-m",
        "h100-sxm",
    )
    assert (status, out) == (0, "over\n")
