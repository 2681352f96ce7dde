"""Launches of compiled kernels on the CPU: their PTX runs on the arrays, and their log becomes events."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from simtmm.cuda.compilers import bare_name
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.events import LogReader
from simtmm.cuda.execution.launch import local_bytes_of
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.parameters import pack
from simtmm.cuda.signature import names, signature
from simtmm.errors import RecordingError
from simtmm.files import KERNEL_MEMORY
from simtmm.kernel import Array, Launch
from simtmm.recorder.compiled.programs import NamedArguments
from simtmm.recorder.compiled.sites import CompiledSites, is_for_warps
from simtmm.recorder.limits import most_held
from simtmm.trace.schema import Batch, TraceArray, TraceLaunch


class CompiledLaunches:
    """A linked module at work on a program's arrays; an Execution of simtmm.recorder.launches.

    sites: of the kernels launched so far. for_warps: whether one of them has instructions for warps of 32.
    has_accessed: whether the launch run last has recorded any access.
    """

    def __init__(self, linked: LinkedModule, arrays: Mapping[str, Array], most_events: int, name: str) -> None:
        """arrays: C-contiguous, in the order of registration. most_events: of all launches. name: begins errors."""
        self.linked, self._name = linked, name
        self.device = Device()
        self._arrays = dict(arrays)
        self._addresses = {each: self.device.memory.place(each, array) for each, array in arrays.items()}
        self._functions: dict[str, KernelFunction] = {}
        self.sites = CompiledSites()
        self.for_warps = False
        self._left = most_events
        self._most = most_events
        self._most_held = most_held(most_events)
        self.has_accessed = False
        self.warnings: list[str] = []

    def function(self, kernel: str) -> KernelFunction:
        """The kernel of a name. Raises KernelError."""
        if kernel not in self._functions:
            self._functions[kernel] = KernelFunction(self.linked, self.linked.entry(kernel or None))
        return self._functions[kernel]

    def run(self, launch: Launch, number: int) -> Iterator[Batch]:
        """Run a launch and yield its events."""
        function = self.function(launch.kernel)
        where = f"{self._name}: launch {number} of {bare_name(function.entry)}"
        grid, block = (_three(sizes) for sizes in (launch.grid, launch.block))
        arguments: Sequence[Any] = launch.arguments
        if isinstance(arguments, NamedArguments):
            arguments = arguments.for_parameters(names(signature(self.linked, function.entry)), where)
        parameters = pack(function, [self._argument(a) for a in arguments], self._address, where)
        shared = launch.shared_memory_bytes
        table = self.sites.table(function)
        self.for_warps = self.for_warps or is_for_warps(function.program)
        reader = LogReader(table, block[0] * block[1] * block[2])
        for piece, ended in self.device.run(function, DeviceLaunch(grid, block, parameters, shared, where)):
            for batch in reader.add(piece, ended):
                yield self._counted(batch, number, where)
            if reader.held > self._most_held:
                raise RecordingError(
                    f"{where}: {reader.held:,} bytes of what its threads do, and none of the blocks has ended: does it "
                    f"loop for ever? Else record into a file (simtmm record -o FILE), or raise {KERNEL_MEMORY}"
                )
        for batch in reader.rest():
            yield self._counted(batch, number, where)
        self.has_accessed = reader.accesses > 0

    def _counted(self, batch: Batch, number: int, where: str) -> Batch:
        self._left -= len(batch.events)
        if self._left < 0:
            raise RecordingError(
                f"{where}: more than {self._most:,} events, which is all that may be held: does it loop for ever? Else "
                "write to a file (simtmm record -o FILE), take smaller parameters or raise most_events"
            )
        batch.launch[:] = number
        return batch

    def _argument(self, argument: Any) -> Any:
        return self._arrays.get(argument, argument) if isinstance(argument, str) else argument

    def _address(self, argument: Any) -> int | None:
        for name, array in self._arrays.items():
            if argument is array:
                return self._addresses[name]
        return None

    def described(self, launch: Launch) -> TraceLaunch:
        """The launch as a trace has it, with what the assembler says that the kernel takes."""
        function = self.function(launch.kernel)
        resources = self.linked.resources_of(function.entry)
        static = function.program.shared_bytes
        dynamic = launch.shared_memory_bytes
        return TraceLaunch(
            bare_name(function.entry),
            _three(launch.grid),
            _three(launch.block),
            resources.registers if resources else launch.registers_per_thread,
            function.program.dynamic_offset + dynamic if dynamic else static,
            max(resources.local_bytes if resources else 0, local_bytes_of(function.program)),
            max(resources.spill_store_bytes, resources.spill_load_bytes) if resources else 0,
        )

    def writable(self, launch: Launch) -> Sequence[str]:
        """The arrays to be watched for stores that are not recorded: none, as no store goes unrecorded here."""
        return ()

    def has_stored(self, name: str) -> bool:
        """Whether the launch run last has recorded a store to an array: not asked for, as none is watched."""
        return False

    def table(self) -> list[TraceArray]:
        """The arrays, and the variables of modules that have been met, as a trace describes them."""
        found = []
        for allocation in self.device.memory.allocations:
            array = allocation.array if allocation.array is not None else allocation.data
            space = "constant" if allocation.constant else "global"
            found.append(
                TraceArray(
                    allocation.name, allocation.base, allocation.bytes, np.dtype(array.dtype).str, tuple(array.shape),
                    space,
                )
            )  # fmt: skip
        return found


def _three(sizes: int | tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*((sizes,) if isinstance(sizes, int) else sizes), 1, 1)[:3]
    return x, y, z
