"""Which architecture a machine's kernels are compiled for."""

import pytest

from simtmm import load_machine
from simtmm.cuda.compilers import architecture, architecture_of, supported_architectures
from simtmm.errors import CompilerError
from tests.cuda.compilers.conftest import needs_nvcc, needs_nvrtc

KNOWN = (75, 80, 86, 89, 90, 120)


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setattr(architecture, "supported_architectures", lambda: KNOWN)


@pytest.mark.parametrize(("name", "number"), [("a100-80", 80), ("a40", 86), ("l40", 89), ("h200", 90)])
def test_a_machines_own_is_taken_without_a_word(known, name, number):
    assert architecture_of(load_machine(name)) == architecture.Architecture(number, None)


@pytest.mark.parametrize(
    ("capability", "number"), [("1.3", 75), ("7.0", 75), ("8.7", 86), ("12.1", 120), ("20.0", 120), ("9.0", 90)]
)
def test_the_nearest_is_one_whose_code_could_run_or_else_the_oldest(known, capability, number):
    result = architecture_of(load_machine("ideal").replace({"compute_capability": capability}))
    assert result.number == number
    assert (result.note is None) == (capability == "9.0")
    assert result.note is None or (f"sm_{number}, the nearest" in result.note and capability in result.note)


@pytest.mark.parametrize("name", ["mi210", "ideal", "cray-xmt"])
def test_a_machine_without_one_takes_that_of_today(known, name):
    result = architecture_of(load_machine(name))
    assert result.number == 90
    assert "has no compute capability" in result.note


@needs_nvrtc
def test_the_compiler_is_asked_what_it_knows():
    known = supported_architectures()
    assert list(known) == sorted(known)
    assert {80, 90} <= set(known)


@needs_nvrtc
@needs_nvcc
def test_nvcc_is_asked_where_there_is_no_nvrtc(monkeypatch):
    def none():
        raise CompilerError("none")

    known = supported_architectures()
    monkeypatch.setattr(architecture, "find_nvrtc", none)
    assert supported_architectures() == known
    monkeypatch.setattr(architecture, "find_nvcc", none)
    with pytest.raises(CompilerError, match="none"):
        supported_architectures()


@needs_nvrtc
def test_a_library_is_asked_once_for_each_build(monkeypatch):
    known = supported_architectures()
    architecture._known_to.cache_clear()  # as another process
    monkeypatch.setattr(architecture, "nvrtc", None)
    assert supported_architectures() == known
    architecture._known_to.cache_clear()
    monkeypatch.setattr(architecture, "stamp", lambda path: "another build")
    with pytest.raises(TypeError):
        supported_architectures()
    architecture._known_to.cache_clear()
