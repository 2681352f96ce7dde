"""Where compilers are looked for, and what is said where there are none."""

import platform
import sys
from pathlib import Path

import pytest

from simtmm.cuda.compilers import wheels
from simtmm.errors import CompilerError


@pytest.fixture
def no_wheels(monkeypatch):
    monkeypatch.setattr(wheels, "_wheels", list)
    for name in (*wheels.TOOLKITS, wheels.CHOSEN):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(wheels, "USUAL", Path("nowhere"))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")


@pytest.mark.parametrize("find", [wheels.find_nvrtc, wheels.find_nvcc, lambda: wheels.find_tool("ptxas")])
def test_what_is_missing_is_one_line_that_says_what_to_install(no_wheels, find):
    with pytest.raises(CompilerError, match=r"^compiling CUDA needs \w+.*pip install '\.\[compile\]'.*CUDA_HOME$"):
        find()


def test_elsewhere_than_on_linux_the_line_says_that_macros_work(no_wheels, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    with pytest.raises(CompilerError, match=r"needs Linux on x86-64 or aarch64, but this is Darwin.*LD, ST, OP"):
        wheels.find_nvrtc()


@pytest.mark.parametrize("variable", wheels.TOOLKITS)
def test_a_toolkit_is_taken_where_there_are_no_wheels(no_wheels, monkeypatch, tmp_path, variable):
    for name in ("bin/ptxas", "lib64/libnvrtc.so.12", "include/cuda_fp16.h", "include/cccl/cub/cub.cuh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setenv(variable, str(tmp_path))
    assert wheels.find_tool("ptxas") == tmp_path / "bin" / "ptxas"
    assert wheels.find_nvrtc() == tmp_path / "lib64" / "libnvrtc.so.12"
    assert wheels.include_folders(wheels.find_nvrtc()) == [tmp_path / "include", tmp_path / "include" / "cccl"]


@pytest.mark.parametrize("on_path", [True, False])
def test_without_a_name_it_is_the_toolkit_of_the_nvcc_on_the_path_or_that_in_its_usual_place(
    no_wheels, monkeypatch, tmp_path, on_path
):
    own, usual, elsewhere = (tmp_path / name for name in ("own", "usual", "elsewhere"))
    for toolkit in (own, usual):
        (toolkit / "nvvm").mkdir(parents=True)
    for folder in (own, usual, elsewhere):
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "nvcc").touch(mode=0o755)
        (folder / "bin" / "ptxas").touch(mode=0o755)
    monkeypatch.setattr(wheels, "USUAL", usual)
    monkeypatch.setenv("PATH", str((own if on_path else elsewhere) / "bin"))  # elsewhere: a script that calls another
    assert wheels.find_tool("ptxas") == (own if on_path else usual) / "bin" / "ptxas"


@pytest.fixture
def chosen(monkeypatch, tmp_path):
    """A folder of wheels that a user chose, beside which others are installed."""
    for name in ("own/nvidia/cuda_nvcc/bin/ptxas", "own/nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "other/bin/nvdisasm",
                 "own/nvidia/cuda_runtime/include/cuda_fp16.h", "other/bin/nvlink"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(wheels, "_wheels", lambda: [tmp_path / "other"])
    monkeypatch.setenv(wheels.CHOSEN, str(tmp_path / "own"))
    return tmp_path


def test_a_chosen_toolkit_comes_before_all_others(chosen):
    own = chosen / "own" / "nvidia"
    assert wheels.find_tool("ptxas") == own / "cuda_nvcc" / "bin" / "ptxas"
    assert wheels.find_nvrtc() == own / "cuda_nvrtc" / "lib" / "libnvrtc.so.12"
    assert wheels.include_folders(wheels.find_nvrtc()) == [own / "cuda_runtime" / "include"]


def test_nothing_that_decides_code_is_taken_from_beside_a_chosen_toolkit(chosen):
    with pytest.raises(CompilerError, match=r"^SIMTMM_CUDA = '.*own': nvlink was not found there; it must be"):
        wheels.find_tool("nvlink")
    assert wheels.find_tool("nvdisasm") == chosen / "other" / "bin" / "nvdisasm"


def test_what_can_be_no_path_of_a_toolkit_is_told_by_the_variable(monkeypatch):
    monkeypatch.setenv(wheels.CHOSEN, "x" * 5000)
    with pytest.raises(CompilerError, match=r"^SIMTMM_CUDA = 'xxx.*xxx': can't be read \(File name too long\)$"):
        wheels.find_tool("ptxas")


def test_nvcc_without_the_parts_that_it_calls_is_reported(no_wheels, monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").touch()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    with pytest.raises(CompilerError, match="needs cicc, a part of nvcc,"):
        wheels.find_nvcc()


def test_no_compiler_of_the_host_is_reported(monkeypatch):
    monkeypatch.delenv("NVCC_CCBIN", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CompilerError, match=r"install g\+\+ or clang\+\+"):
        wheels.find_host_compiler()
    monkeypatch.setenv("NVCC_CCBIN", "nonesuch")
    with pytest.raises(CompilerError, match="NVCC_CCBIN = 'nonesuch': no such command"):
        wheels.find_host_compiler()
