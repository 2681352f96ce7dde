"""Small kernels run on the CPU: PTX texts, and CUDA C++ where the compiler is there."""

import struct
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.launches.device_memory import DeviceMemory
from simtmm.cuda.execution.launches.launch import LaunchState
from simtmm.cuda.execution.launches.run import FaultError
from simtmm.cuda.execution.launches.run import run as run_launch
from simtmm.cuda.execution.layout import LANES, LOG_ENTRY, TEXTURE_HANDLE
from simtmm.cuda.execution.translation.kept_code import machine_code
from simtmm.cuda.execution.translation.machine_code import MachineCode
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx import parse_module
from simtmm.cuda.texture import SurfaceObject

Array = npt.NDArray[Any]
Logged = tuple[str, int, list[int]]  # what an access is, the mask of its lanes, their addresses

_HEAD = ".version 8.7\n.target sm_100a\n.address_size 64\n"


class Faulted(Exception):  # noqa: N818 - what a launch ended with
    """A thread did what it must not: the number of the fault."""


@cache
def translated(ptx: str, entry: str) -> tuple[Program, MachineCode]:
    """A kernel as code."""
    program = Program(parse_module(ptx), entry)
    return program, machine_code(program.assembly(), "test")


def run(
    ptx: str,
    entry: str,
    arguments: Sequence[Array | np.generic | SurfaceObject],
    threads: int = 32,
    grid: int = 1,
    record: bool = False,
) -> list[Logged]:
    """Run a kernel on arrays and textures, where they lie; what it logged of accesses, if it is to."""
    program, code = translated(ptx, entry)
    memory = DeviceMemory()
    packed, textures = b"", []
    for number, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray):
            packed += bytes(-len(packed) % 8) + struct.pack("<Q", memory.place(f"a{number}", argument))
        elif isinstance(argument, SurfaceObject):
            packed += bytes(-len(packed) % 8) + struct.pack("<Q", TEXTURE_HANDLE + len(textures))
            textures.append(argument.row(memory.place(f"a{number}", argument.array)))
        else:
            packed += bytes(-len(packed) % argument.itemsize) + argument.tobytes()
    state = LaunchState(program, memory, {}, (grid, 1, 1), (threads, 1, 1), packed, 0, 1, b"".join(textures))
    logged: list[Logged] = []
    try:
        for piece, _ in run_launch(state, code, record, resident=16, calls_host=False):
            logged += _entries(program, piece)
    except FaultError as error:
        raise Faulted(int(error.args[0].launch["fault"])) from None
    return logged


def _entries(program: Program, piece: Array) -> list[Logged]:
    found: list[Logged] = []
    at = 0
    while at < len(piece):
        site, mask = (int(n) for n in piece[at : at + 8].view(np.int32))
        if site < 0:
            at += 16 if site == -2 else 8
            continue
        step = program.sites[site].step
        if step.access is None:
            at += 8
            continue
        addresses = piece[at + 8 : at + LOG_ENTRY].view(np.uint64)
        found.append((step.kind, mask & 0xFFFFFFFF, [int(address) for address in addresses]))
        at += LOG_ENTRY
    return found


def kernel(body: str, arrays: int, registers: str = "", outside: str = "") -> str:
    """PTX of a kernel named `k` that takes pointers: %p0, %p1 and so on, and has its lane's number in %lane.

    registers: declarations besides. outside: in front of the kernel.
    """
    parameters = ", ".join(f".param .u64 a{n}" for n in range(arrays))
    loads = "\n".join(f"ld.param.u64 %p{n}, [a{n}];" for n in range(arrays))
    return f"""{_HEAD}{outside}
.visible .entry k({parameters})
{{
.reg .b32 %lane; .reg .b64 %p<{max(1, arrays)}>; .reg .b64 %at; .reg .b64 %off;
{registers}
{loads}
mov.u32 %lane, %tid.x;
{body}
ret;
}}
"""


def each_lane(instruction: str, inputs: Sequence[str], outputs: Sequence[str]) -> str:
    """PTX of a kernel that loads %i0, %i1 ... of a lane, runs instructions, and stores %o0, %o1 ...

    It takes their arrays in this order. inputs, outputs: types, such as "b32".
    """
    lines = [".reg .pred %q<8>;"]
    for letter, types in (("i", inputs), ("o", outputs)):
        lines += [f".reg .{kind} %{letter}{n};" for n, kind in enumerate(types)]
    body = []
    for n, kind in enumerate((*inputs, *outputs)):
        size = int(kind[1:]) // 8
        body += [f"mul.wide.u32 %off, %lane, {size};", f"add.u64 %p{n}, %p{n}, %off;"]
        if n < len(inputs):
            body.append(f"ld.global.{kind} %i{n}, [%p{n}];")
    body.append(instruction)
    for n, kind in enumerate(outputs):
        body.append(f"st.global.{kind} [%p{len(inputs) + n}], %o{n};")
    return kernel("\n".join(body), len(inputs) + len(outputs), "\n".join(lines))


def apply(instruction: str, inputs: Sequence[Array], outputs: Sequence[Any]) -> list[Array]:
    """What an instruction gives for each lane: inputs [n] of n lanes, outputs by their types of NumPy."""
    lanes = len(inputs[0]) if inputs else LANES
    given = [np.ascontiguousarray(array) for array in inputs]
    made = [np.zeros(lanes, kind) for kind in outputs]
    ptx = each_lane(instruction, [f"b{8 * a.itemsize}" for a in given], [f"b{8 * a.itemsize}" for a in made])
    run(ptx, "k", [*given, *made], threads=lanes)
    return made
