"""A host.py that ends Python, or tries to: it ends in one line that names file, line and function."""

import re

import pytest

from simtmm.errors import KernelError
from simtmm.kernel import load_kernel

HOST = """import sys

import numpy as np

from simtmm.kernel import Launch, Parameter

PARAMETERS = {"n": Parameter(4, "a size")}


def inputs(p):
    return {"a": np.zeros(4, np.int32)}


def launches(p, memory):
    yield Launch("f", ("a",), grid=1, block=1)


def check(p, before, after):
    pass


def defines(p):
    return {}


def algorithm(p):
    return None
"""
CALLS = {
    "inputs": lambda kernel: kernel.inputs({}),
    "launches": lambda kernel: list(kernel.launches({}, {})),
    "check": lambda kernel: kernel.check({}, {}, {}),
    "defines": lambda kernel: kernel.defines({}),
    "algorithm": lambda kernel: kernel.algorithm({}),
}


@pytest.fixture
def kernel(tmp_path):
    """Make a kernel in whose host.py a function begins with a statement."""

    def make(function, statement):
        text, found = re.subn(rf"def {function}\(.*\n", lambda match: f"{match[0]}    {statement}\n", HOST)
        assert found == 1
        (tmp_path / "kernel.cu").touch()
        (tmp_path / "host.py").write_text(text)
        return load_kernel(tmp_path), text.split("\n").index(f"    {statement}") + 1

    return make


@pytest.mark.parametrize("function", CALLS)
def test_a_function_that_calls_sys_exit_is_a_mistake_of_the_kernel(kernel, tmp_path, function):
    result, line = kernel(function, "sys.exit(0)")
    with pytest.raises(KernelError) as caught:
        CALLS[function](result)
    assert str(caught.value) == (
        f"kernel {tmp_path.name}: {tmp_path / 'host.py'}:{line}: {function} failed: called sys.exit(0)"
    )


def test_the_line_is_reported_of_a_kernel_that_is_named_by_a_path_from_here(kernel, tmp_path, monkeypatch):
    _, line = kernel("check", "sys.exit(0)")
    monkeypatch.chdir(tmp_path.parent)
    with pytest.raises(KernelError) as caught:
        load_kernel(tmp_path.name).check({}, {}, {})
    assert f": {tmp_path.name}/host.py:{line}: check failed" in str(caught.value)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("sys.exit()", "called sys.exit()"),
        (r"sys.exit('no\nmore')", r"called sys.exit('no\nmore')"),
        ("raise SystemExit(3)", "called sys.exit(3)"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("raise BaseException('mine')", "BaseException: mine"),
    ],
)
def test_whatever_a_check_raises_is_reported_in_one_line(kernel, statement, said):
    result, _ = kernel("check", statement)
    with pytest.raises(KernelError) as caught:
        result.check({}, {}, {})
    assert str(caught.value).endswith(f": check failed: {said}")


@pytest.mark.parametrize("function", CALLS)
def test_an_interrupt_is_the_users(kernel, function):
    result, _ = kernel(function, "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        CALLS[function](result)


@pytest.mark.parametrize("text", ["import sys\nsys.exit(0)\n", f"{HOST}\ndef __getattr__(name):\n    sys.exit(0)\n"])
def test_a_host_py_that_ends_python_while_it_is_loaded_is_reported_with_its_line(tmp_path, text):
    (tmp_path / "kernel.cu").touch()
    (tmp_path / "host.py").write_text(text)
    line = text.split("\n").index(next(each for each in text.split("\n") if "sys.exit" in each)) + 1
    with pytest.raises(KernelError) as caught:
        load_kernel(tmp_path)
    assert str(caught.value) == f"{tmp_path / 'host.py'}:{line}: called sys.exit(0)"
