"""Kernels run here: as PTX, and as machine code lifted back to PTX."""

import struct
from collections.abc import Sequence

import numpy as np

from simtmm.cuda.compilers import compile_source
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.machine_function import machine_function
from tests.cuda.whole.host import device_source
from tests.cuda.whole.kernels import Kernel

ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)
OPTIONS = ("--fmad=false", "--device-int128", "-w")
SECONDS = 60.0  # that a kernel may take


def compiled(kernels: Sequence[Kernel], architecture: int) -> LinkedModule:
    """Kernels compiled for an architecture, whose options are alike."""
    options, source = (*OPTIONS, *kernels[0].options), device_source(kernels)
    return LinkedModule([compile_source(source, name="drawn.cu", architecture=architecture, options=options)])


def run_on_device(function: KernelFunction, kernel: Kernel) -> list[np.ndarray]:
    """The arrays that a kernel leaves."""
    device, arrays = Device(), kernel.arrays()
    device.symbols(function.linked)
    addresses = [device.memory.place(f"a{at}", array) for at, array in enumerate(arrays)]
    parameters = struct.pack(f"<{len(addresses)}Q", *addresses)
    launch = DeviceLaunch((kernel.blocks, 1, 1), (kernel.threads, 1, 1), parameters)
    device.launch(function, launch, seconds=SECONDS)
    return arrays


def as_ptx(module: LinkedModule, kernel: Kernel) -> KernelFunction:
    """A kernel of a module as its PTX has it."""
    return KernelFunction(module, kernel.name).quick


def as_machine_code(module: LinkedModule, kernel: Kernel) -> tuple[KernelFunction | None, str]:
    """A kernel of a module as its machine code has it; or none, and why."""
    function, why = machine_function(KernelFunction(module, kernel.name))
    return (function.quick if function is not None else None), why
