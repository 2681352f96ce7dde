"""RawModule: functions, name expressions, variables, and PTX from files."""

import io

import numpy as np
import pytest

import simtmm
from simtmm.cuda.compilers import compile_source
from simtmm.errors import CompilerError, KernelError
from tests.cuda.compilers.conftest import needs_nvrtc
from tests.recorder.direct.kernels import SAXPY, SCALE, VARIABLES

pytestmark = needs_nvrtc


@pytest.fixture
def module():
    return simtmm.RawModule(VARIABLES)


def test_name_expressions_name_kernels_and_variables():
    source = SCALE + "namespace a { __device__ int b[3]; }"
    module = simtmm.RawModule(source, name_expressions=("scale<int, 2>", "scale<float, 5>", "&a::b"))
    x, z = np.arange(4, dtype=np.int32), np.ones(4, np.float32)
    module.get_function("scale<int, 2>")((1,), (4,), (x, 4))
    module.get_function("scale<float, 5>")((1,), (4,), (z, 4))
    assert (x.tolist(), z.tolist()) == ([0, 2, 4, 6], [5] * 4)
    assert module.get_global("&a::b").nbytes == 12
    with pytest.raises(KernelError, match="kernel 'scale<double, 1>': unknown"):
        module.get_function("scale<double, 1>")


def test_variables_are_written_and_read_as_arrays(module):
    module.get_global("coefficients").array(np.float32)[:] = [1, 2, 3, 4]
    x, y = np.ones(6, np.float32), np.zeros(6, np.float32)
    kernel = module.get_function("weigh")
    kernel((1,), (6,), (x, y))
    kernel((2,), (6,), (x, y))
    assert y.tolist() == [3, 6, 9, 12, 3, 6]
    assert module.get_global("calls").array(np.int32).tolist() == [3]


def test_variables_are_the_same_in_recordings_and_outside(module):
    coefficients = module.get_global("coefficients").array(np.float32)
    coefficients[:] = [1, 2, 3, 4]
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    kernel = module.get_function("weigh")
    with simtmm.recording(architecture=80) as recording:
        kernel((1,), (4,), (x, y))
    assert y.tolist() == [3, 6, 9, 12]
    spaces = {array.name: array.space for array in recording.trace.info.arrays}
    assert (spaces["coefficients"], spaces["calls"], spaces["x"]) == ("constant", "global", "global")
    coefficients[:] = 1
    kernel((1,), (4,), (x, y))
    assert y.tolist() == [3, 3, 3, 3]
    assert module.get_global("calls").array(np.int32).tolist() == [2]


def test_pointers_among_variables_hold_on_every_device(module):
    follow = module.get_function("follow")
    y = np.zeros(3, np.int32)
    follow((1,), (3,), (y,))
    assert y.tolist() == [6, 7, 8]
    with simtmm.recording():
        big = np.zeros(3000, np.int32)
        follow((1,), (3,), (big,))
    y[:] = 0
    follow((1,), (3,), (y,))
    assert (big[:3].tolist(), y.tolist()) == ([6, 7, 8], [6, 7, 8])


def test_a_variable_may_be_an_argument(module):
    other = module.get_global("other")
    add_one = module.get_function("add_one")
    add_one((1,), (4,), (other,))
    add_one((1,), (2,), (other.ptr + 8,))
    add_one((1,), (1,), (other.array(np.int32)[3:],))
    assert other.array(np.int32).tolist() == [6, 7, 9, 11]
    assert np.asarray(other).view(np.int32)[0] == 6
    with pytest.raises(KernelError, match=r"variable other: an array of int32, shape 5: the variable has 16 bytes"):
        other.array(np.int32, 5)


def test_an_unknown_variable_is_reported(module):
    with pytest.raises(KernelError, match="variable 'coefficient': unknown; did you mean 'coefficients'"):
        module.get_global("coefficient")
    assert module.get_global("filter::factor").array(np.float32).tolist() == [3]


def test_ptx_from_a_file_runs(tmp_path):
    path = tmp_path / "saxpy.ptx"
    path.write_text(compile_source(SAXPY, architecture=80).ptx)
    module = simtmm.RawModule(path=str(path))
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    kernel = module.get_function("saxpy")
    kernel((1,), (4,), (4, 2, x, y))
    assert y.tolist() == [2] * 4
    assert (kernel.file_path, kernel.code) == (str(path), None)
    with pytest.raises(CompilerError, match=r"no\.ptx: can't be read"):
        simtmm.RawModule(path=tmp_path / "no.ptx").compile()


def test_it_is_compiled_when_it_is_first_used(monkeypatch):
    module = simtmm.RawModule("this is no C++")
    with pytest.raises(CompilerError, match=r"module.cu:1: does not compile"):
        module.get_function("saxpy")
    log = io.StringIO()
    simtmm.RawModule(SAXPY + "#warning look here\n").compile(log)
    assert "look here" in log.getvalue()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "must have either code or path"),
        ({"code": SAXPY, "path": "a.ptx"}, "must have either code or path"),
        ({"path": "a.ptx", "name_expressions": ["a<int>"]}, "name_expressions: are for code"),
        ({"code": SAXPY, "name_expressions": "a<int>"}, "name_expressions = 'a<int>': must be names"),
        ({"path": 5}, "path = 5: must be a path"),
    ],
)
def test_arguments_that_are_not_taken_are_named(more, said):
    with pytest.raises(KernelError, match=said):
        simtmm.RawModule(**more)
