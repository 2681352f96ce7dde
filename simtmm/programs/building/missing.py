"""What a program calls of libraries that are not here, by name."""

import re
from collections.abc import Sequence

from simtmm.cuda.compilers import demangled
from simtmm.errors import CompilerError
from simtmm.programs.building.library_stubs import library_stubs

_LIBRARIES = {
    "cublas": "cuBLAS", "cufft": "cuFFT", "curand": "cuRAND's host side", "cusparse": "cuSPARSE",
    "cusolver": "cuSOLVER", "cudnn": "cuDNN", "nccl": "NCCL", "npp": "NPP", "nvjpeg": "nvJPEG", "nvrtc": "NVRTC",
    "cutensor": "cuTENSOR", "nvml": "NVML", "cupti": "CUPTI", "mpi": "MPI", "gl": "OpenGL", "cuda_gl": "OpenGL",
}  # fmt: skip
_DRIVER = re.compile(r"cu(?!da|blas|fft|rand|sparse|solver|dnn|tensor|pti)[A-Z]\w+")
_DEFINED_TWICE = re.compile(r"multiple definition of [`'](.+?)'")
_UNDEFINED = re.compile(r"undefined reference to [`'](\S+?)'")
_NO_HEADER = re.compile(r'(?:cannot open source file "([^"]+)"|(\S+): No such file)')
_DEVICE_RUNTIME = "cuda_device_runtime"  # what device-side launches are linked with
_CALL = re.compile(rb"\b((?:cublas|cufft|curand|cusparse|cusolver|cudnn|nccl|npp|nvjpeg|cutensor)[A-Z]\w*)\s*\(")


def stubs_of(log: str) -> str:
    """C code for the functions of libraries that a program calls, where it calls nothing else that is missing: "" else.

    Handles can be made and set up; the first call that computes ends the program, and is named.
    """
    names = list(dict.fromkeys(_UNDEFINED.findall(log)))
    if not names or not all(_library_of(name) and _CALL.match(f"{name}(".encode()) for name in names):
        return ""
    return library_stubs(names, [_library_of(name) for name in names])


def unresolved(log: str, name: str) -> CompilerError:
    """The error of a program that can't be linked, mostly as it calls what nobody defines. log: the linker's."""
    found = list(dict.fromkeys(_UNDEFINED.findall(log)))
    if not found and (twice := _DEFINED_TWICE.search(log)):
        hint = "; an argument that is a source file goes behind another --" if twice[1] == "main" else ""
        return CompilerError(f"{name}: defines {twice[1]} twice, in this file or its others{hint}", log)
    if not found:
        complaint = next((line for line in log.splitlines() if "error" in line or "cannot find" in line), log[:200])
        return CompilerError(f"{name}: can't be linked: {complaint.strip()}", log)
    if any(_DEVICE_RUNTIME in each for each in found):
        what = "launches kernels from the device (dynamic parallelism), which is not supported"
        return CompilerError(f"{name}: {what}", log)
    first = demangled(found[0])
    others = f", and {len(found) - 1} more" if len(found) > 1 else ""
    why = "which no file defines"
    if library := _library_of(first):
        why = f"a function of {library}: library calls are not supported"
    elif _DRIVER.fullmatch(first):
        why = "a function of the driver API that is not supported (docs/cuda-programs.md)"
    elif first.startswith("cuda"):
        why = "which simtmm's CUDA runtime does not have"
    return CompilerError(f"{name}: calls {first}{others}, {why}", log)


def missing_library(error: CompilerError, texts: Sequence[bytes]) -> CompilerError | None:
    """The error of a program whose library's header is not here; None for another error."""
    found = _NO_HEADER.search(str(error))
    header = (found[1] or found[2]) if found else ""
    library = _library_of(header.rpartition("/")[2])
    if not library:
        return None
    calls = [call[1].decode() for text in texts for call in _CALL.finditer(text)]
    what = f"calls {calls[0]}" if calls else f"includes <{header}>"
    place = str(error).partition(": does not compile")[0]
    return CompilerError(f"{place}: {what}, of {library}: library calls are not supported", error.log)


def _library_of(name: str) -> str:
    lowered = name.lower()
    return next((title for start, title in _LIBRARIES.items() if lowered.startswith(start)), "")
