"""NVRTC through ctypes: compile CUDA without a GPU. What compiled is kept in the user's cache, as it takes a while."""

import ctypes
import hashlib
import importlib.util
from functools import cache
from pathlib import Path

from simtmm.cache import find, keep, own_folder
from simtmm.recorder.compiler import HERE


@cache
def library() -> ctypes.CDLL | None:
    """libnvrtc from the nvidia-cuda-nvrtc wheel, or None."""
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations or [] if spec else []:
        for path in sorted(Path(root).glob("**/libnvrtc.so.*")):
            return ctypes.CDLL(str(path))
    return None


def compile_cuda(source: str, architecture: str, options: list[str]) -> str | None:
    """None if the source compiles for `architecture` ("80", "90"), else the compiler's log."""
    return _compile(source, architecture, options)[1]


def compile_ptx(source: str, architecture: str, options: list[str]) -> str:
    """What the source compiles to. Raises AssertionError with the compiler's log where it does not."""
    ptx, log = _compile(source, architecture, options)
    assert log is None, log
    return ptx


def _compile(source: str, architecture: str, options: list[str]) -> tuple[str, str | None]:
    """The PTX and None, or nothing and the log."""
    headers = [path.read_text(encoding="utf-8") for path in sorted(HERE.glob("*.cuh"))]
    known = (source, architecture, options, headers, _version())
    folder, key = own_folder("tests-nvrtc"), hashlib.sha256(repr(known).encode()).hexdigest()
    if kept := find(folder, "unit", key, ".ptx"):
        return kept.read_text(encoding="utf-8"), None
    ptx, log = _compile_anew(source, architecture, options)
    if log is None:
        keep(folder, "unit", key, ".ptx", lambda path: path.write_text(ptx, encoding="utf-8"))
    return ptx, log


@cache
def _version() -> tuple[int, int]:
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc = library()
    assert nvrtc is not None
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def _compile_anew(source: str, architecture: str, options: list[str]) -> tuple[str, str | None]:
    """The PTX and None, or nothing and the log."""
    nvrtc = library()
    assert nvrtc is not None
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"unit.cu", 0, None, None)
    words = [f"--gpu-architecture=compute_{architecture}", "--std=c++17", *options]
    array = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    failed = nvrtc.nvrtcCompileProgram(program, len(words), array) != 0
    size = ctypes.c_size_t()
    (nvrtc.nvrtcGetProgramLogSize if failed else nvrtc.nvrtcGetPTXSize)(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    (nvrtc.nvrtcGetProgramLog if failed else nvrtc.nvrtcGetPTX)(program, text)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return ("", text.value.decode()) if failed else (text.value.decode(), None)
