"""A mistake of simtmm's own is told as such: with its place, a file to send, and exit status 3."""

import platform
import re
from pathlib import Path

import numpy as np
import pytest

import simtmm
from simtmm import own_faults
from simtmm.cuda.checks import analysis
from simtmm.cuda.execution import instructions
from simtmm.errors import InternalError, PtxError, SimtmmError
from simtmm.provenance import provenance
from tests.cli.conftest import called  # noqa: F401 - a fixture
from tests.cuda.compilers.conftest import needs_nvrtc, needs_ptxas

SOURCE = 'extern "C" __global__ void f(int* x) { x[threadIdx.x] = x[threadIdx.x] + 12345 * blockDim.x; }'


@pytest.fixture
def mistyped(monkeypatch):
    """Have an instruction be translated with a mistake; what is compiled of it lies in no cache."""

    def translate(context, instruction):
        context.emitt.binary("mad", 1, 2)

    monkeypatch.setitem(instructions.HANDLERS, "mad", translate)
    monkeypatch.setitem(instructions.HANDLERS, "add", translate)


def sent(message):
    """The text of the file that a message names."""
    path = Path(re.search(r"please send (\S+simtmm-fault-\w+\.txt)", message)[1])
    text = path.read_text(encoding="utf-8")
    path.unlink()
    return text


@needs_nvrtc
@needs_ptxas
def test_a_mistake_of_a_translator_is_ours_and_names_what_to_send(mistyped):
    kernel = simtmm.RawKernel(SOURCE, "f")
    with pytest.raises(
        InternalError, match=r"f\.cu:1: PTX line \d+: .* by a fault of simtmm, not of your kernel"
    ) as told:
        kernel((1,), (32,), (np.zeros(32, np.int32),))
    assert "AttributeError: 'Context' object has no attribute 'emitt'" in str(told.value)
    text = sent(str(told.value))
    assert ".visible .entry f" in text
    assert "Traceback (most recent call last)" in text
    assert "context.emitt" in text
    assert f"numpy: {np.__version__}" in text


@needs_nvrtc
@needs_ptxas
def test_ptx_that_the_assembler_refuses_is_not_ours(mistyped):
    source = SOURCE.replace("x[threadIdx.x] =", 'asm("mul.rn.b64 %0, %0, 3;" : "+l"(x)); x[threadIdx.x] =')
    with pytest.raises(PtxError, match="mul") as told:
        simtmm.RawKernel(source, "f")((1,), (32,), (np.zeros(32, np.int32),))
    assert "fault of simtmm" not in str(told.value)


def test_errors_of_simtmm_pass_and_others_are_ours():
    with pytest.raises(PtxError, match=r"^as it is$"), own_faults.told_as_ours("it was not run"):
        raise PtxError("as it is")
    for error in (ValueError("one"), TypeError("two"), LookupError("three"), AttributeError("four")):
        ours = pytest.raises(InternalError, match=f"^it was not run, by a fault of simtmm.*{error}")
        with ours, own_faults.told_as_ours("it was not run"):
            raise error
    assert issubclass(InternalError, SimtmmError)


@needs_nvrtc
def test_a_mistake_of_a_checker_is_ours(monkeypatch, called, tmp_path):  # noqa: F811
    def wrong(words, tables):
        return tables["none"]

    monkeypatch.setattr(analysis, "ANALYSE", wrong)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text("__global__ void k(int* x) { x[threadIdx.x] = 1; }")
    launch = ("--grid", 1, "--block", 32, "--arg", "x=zeros:int32:32")
    status, _, told = called("run", "k.cu", "--machine", "h100-sxm", *launch, "--check", "racecheck")
    assert status == 3
    assert "was not checked, by a fault of simtmm, not of your kernel: TypeError" in told


@needs_nvrtc
def test_a_mistake_of_an_adapter_is_ours_and_what_it_says_of_a_script_is_the_script_s(monkeypatch, called, tmp_path):  # noqa: F811
    script = tmp_path / "s.py"
    script.write_text("import cupy as cp\nx = cp.zeros(4)\nx.nothing_like_that\n")
    status, _, told = called("run", script, "--machine", "h100-sxm")
    assert status == 1
    assert "AttributeError" in told
    assert "fault of simtmm" not in told
    script.write_text("import cupy as cp\nx = cp.zeros(4).reshape(3)\n")
    status, _, told = called("run", script, "--machine", "h100-sxm")
    assert status == 1
    assert "fault of simtmm" not in told


def _uses_what_is_not_there():
    return own_faults.nothing_like_that


def test_a_report_has_the_fault_where_it_came_up_and_all_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    path = own_faults.report("a fault", {"traceback": "line 1\nline 2", "PTX": ".version 8.0"})
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[:2] == ["a fault", ""]
    told = dict(line.split(": ", 1) for line in lines[2 : lines.index("", 2)])
    assert told.pop("system") == f"{platform.system()} {platform.machine()}"
    assert told == {key: str(value) for key, value in provenance().items()}
    assert text.endswith("\n\n--- traceback\nline 1\nline 2\n\n--- PTX\n.version 8.0\n")
    assert list(tmp_path.iterdir()) == [path]
    assert own_faults.report("a fault", {"traceback": "line 1\nline 2", "PTX": ".version 8.0"}) == path
    assert own_faults.report("a fault", {"traceback": "line 1"}) != path
    assert own_faults.report("another", {"traceback": "line 1\nline 2", "PTX": ".version 8.0"}) != path


def test_only_a_mistake_in_our_own_code_is_ours():
    with pytest.raises(AttributeError) as told:
        _uses_what_is_not_there()
    assert not own_faults.is_own(told.value)  # this file is no part of simtmm
    with pytest.raises(AttributeError) as told:
        own_faults.with_report(None, {})
    assert own_faults.is_own(told.value)
    with pytest.raises(KeyError) as told:
        raise KeyError("one")
    assert not own_faults.is_own(told.value)


def test_what_no_command_should_meet_ends_with_status_3(monkeypatch, called):  # noqa: F811
    def wrong(*words, **options):
        return [][0]

    monkeypatch.setattr("simtmm.cli.command_line._command", lambda *_: wrong)
    status, out, told = called("kernels")
    assert status == 3
    assert out == ""
    assert told.startswith("simtmm: error: the command was not completed, by a fault of simtmm, not of its input")
    assert "IndexError: list index out of range" in told
    assert "command: " in sent(told)
