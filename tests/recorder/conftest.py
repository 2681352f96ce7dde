"""Tiny kernels, made and recorded."""

import pytest

from simtmm import record
from simtmm.errors import CompilerError
from simtmm.recorder import compiler
from simtmm.recorder.compiler import find_compiler
from simtmm.trace.recording import TraceRecorder
from tests.recorder.build import DEVICE, host
from tests.recorder.quick import quick_flags


def _no_compiler():
    try:
        find_compiler()
    except CompilerError:
        return True
    return False


needs_compiler = pytest.mark.skipif(_no_compiler(), reason="recording on the CPU needs a C++ compiler")


@pytest.fixture
def probe_flags(monkeypatch):
    """Kernels are built in a third of the time; tests/kernels builds for speed, as users do."""
    monkeypatch.setattr(compiler, "FLAGS", quick_flags())


@pytest.fixture(scope="module")
def quick_builds():
    """Likewise, all kernels of a module of tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "FLAGS", quick_flags())
        yield


@pytest.fixture
def kernel_folder(tmp_path, probe_flags):
    """Make a kernel folder of the texts of kernel.cu and host.py, and give its path."""

    def make(cu, host, name="probe"):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "kernel.cu").write_text(cu)
        (folder / "host.py").write_text(host)
        return folder

    return make


@pytest.fixture
def recorded(kernel_folder):
    """Record device code (behind its #include) as written, with what host.py should do; see tests.recorder.build."""

    def make(device, output=None, name="probe", **what):
        return record(kernel_folder(DEVICE + device, host(**what), name), output=output, form="written")

    return make


def watched_batches(monkeypatch, what):
    """A list that takes, of each batch that is recorded from now on, what is asked for."""
    found = []
    add = TraceRecorder.add

    def watched(recorder, batch, launches):
        found.append(what(batch))
        add(recorder, batch, launches)

    monkeypatch.setattr(TraceRecorder, "add", watched)
    return found
