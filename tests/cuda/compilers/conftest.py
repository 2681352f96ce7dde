"""Where NVIDIA's compilers are there, and a cache of a test's own."""

import pytest

from simtmm.cuda.compilers.wheels import find_host_compiler, find_nvcc, find_nvrtc, find_tool
from simtmm.errors import CompilerError


def _missing(*finders):
    for find in finders:
        try:
            find()
        except CompilerError as error:
            return str(error)
    return ""


def needs(*finders):
    why = _missing(*finders)
    return pytest.mark.skipif(bool(why), reason=why or "all there")


needs_nvrtc = needs(find_nvrtc)
needs_ptxas = needs(find_nvrtc, lambda: find_tool("ptxas"))
needs_machine_code = needs(find_nvrtc, lambda: find_tool("ptxas"), lambda: find_tool("nvdisasm"))
needs_nvcc = needs(find_nvcc, find_host_compiler, lambda: find_tool("ptxas"), lambda: find_tool("nvlink"))


@pytest.fixture
def fresh_cache(tmp_path, monkeypatch):
    """An empty cache; the folder that modules are kept in."""
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "cuda"
