"""A kernel run by the execution on the CPU and by the plain interpreter, on the same arrays at the same addresses."""

import operator
import struct
from collections.abc import Callable, Sequence

import numpy as np

from simtmm.cuda.compilers import CompiledModule
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.ptx import parse_module
from tests.cuda.interpreter import Memory, run

PATIENCE = 300  # seconds; a kernel that never ends fails, and holds nobody up


def execute(
    text: str,
    blocks: int,
    threads: int,
    arrays: Sequence[np.ndarray],
    architecture: int = 100,
    form: Callable[[KernelFunction], KernelFunction] = lambda function: function,
) -> tuple[list[np.ndarray], list[int]]:
    """The arrays that kernel "k" leaves, which takes pointers to them, and where they stood. form: what runs of it."""
    linked = LinkedModule([CompiledModule(text, architecture, name="k.ptx")])
    device = Device()
    device.symbols(linked)
    found = [array.copy() for array in arrays]
    addresses = [device.memory.place(f"a{at}", array) for at, array in enumerate(found)]
    parameters = struct.pack(f"<{len(addresses)}Q", *addresses)
    launch = DeviceLaunch((blocks, 1, 1), (threads, 1, 1), parameters)
    device.launch(form(KernelFunction(linked, "k")), launch, seconds=PATIENCE)
    return found, addresses


def interpret(
    text: str, blocks: int, threads: int, arrays: Sequence[np.ndarray], addresses: Sequence[int]
) -> list[np.ndarray]:
    """The same by the interpreter."""
    module, memory = parse_module(text), Memory()
    found = [array.copy() for array in arrays]
    for array, address in zip(found, addresses, strict=True):
        memory.allocate(array, address)
    memory.load(module)
    given = [struct.pack("<Q", address) for address in addresses]
    run(module, "k", (blocks, 1, 1), (threads, 1, 1), given, memory, limit=5_000_000)
    return found


def both(
    text: str, blocks: int, threads: int, *arrays: np.ndarray, quick: bool = False
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Each array as the execution and as the interpreter leave it. quick: whether it is compiled so."""
    form = operator.attrgetter("quick") if quick else lambda function: function
    executed, addresses = execute(text, blocks, threads, arrays, form=form)
    return list(zip(executed, interpret(text, blocks, threads, arrays, addresses), strict=True))
