"""The compiled module of a kernel."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simtmm.cuda.build import build
from simtmm.cuda.linked import LinkedModule
from simtmm.kernel import Kernel

HEADERS = Path(__file__).resolve().parent.parent  # device.cuh: without SIMTMM_RECORD its macros are plain CUDA


def module_of(kernel: Kernel, parameters: Mapping[str, Any], architecture: int) -> LinkedModule:
    """What a kernel's source compiles to with its parameters.

    parameters: all of the kernel, by name.
    architecture: compute capability times ten.

    Raises CompilerError, KernelError, PtxError.
    """
    macros = [f"-D{name}={value}" for name, value in kernel.defines(parameters).items()]
    options = [*macros, f"-I{HEADERS}", f"-I{kernel.folder}", *kernel.options]
    return build(kernel.source_paths, architecture, options, kernel.expressions, kernel.folder)
