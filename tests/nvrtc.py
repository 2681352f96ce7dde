"""NVRTC through ctypes: compile CUDA without a GPU. What comes of it is thrown away."""

import ctypes
import importlib.util
from functools import cache
from pathlib import Path


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
    nvrtc = library()
    assert nvrtc is not None
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"unit.cu", 0, None, None)
    words = [f"--gpu-architecture=compute_{architecture}", "--std=c++17", *options]
    array = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
    status = nvrtc.nvrtcCompileProgram(program, len(words), array)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return None if status == 0 else log.value.decode()
