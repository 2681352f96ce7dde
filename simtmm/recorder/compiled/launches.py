"""Launches of compiled kernels on the CPU: their PTX runs on a program's arrays."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simtmm.cuda.compilers import bare_name
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.parameters import pack
from simtmm.cuda.signature import names
from simtmm.kernel import Array, Launch
from simtmm.recorder.compiled.programs import NamedArguments
from simtmm.recorder.compiled.run import LaunchRuns
from simtmm.trace.schema import Batch, TraceLaunch


class CompiledLaunches:
    """A linked module at work on a program's arrays; an Execution of simtmm.recorder.launches.

    runs: that its launches are run by.
    """

    def __init__(
        self,
        linked: LinkedModule,
        arrays: Mapping[str, Array],
        most_events: int,
        name: str,
        machine_code: bool = True,
        device: Device | None = None,
        functions: dict[str, KernelFunction] | None = None,
    ) -> None:
        """Nothing runs so far.

        linked: what the kernel's file was compiled to.
        arrays: by name, of any shape, C-contiguous, in the order of registration.
        most_events: of all launches.
        name: begins errors.
        machine_code: whether the machine's instructions are recorded, where they can be had.
        device: that runs them; one without hardware if left out.
        functions: kernels of the module by name, shared with others that run it.
        """
        self.linked, self._name = linked, name
        self.device = Device() if device is None else device
        self.runs = LaunchRuns(self.device, most_events, machine_code)
        self._arrays = dict(arrays)
        self._addresses = {
            each: self.device.pointer(self.device.memory.place(each, array)) for each, array in arrays.items()
        }
        self._functions: dict[str, KernelFunction] = {} if functions is None else functions
        self.warnings: list[str] = []

    def function(self, kernel: str) -> KernelFunction:
        """The kernel of a name.

        kernel: its name.

        Raises KernelError.
        """
        if kernel not in self._functions:
            self._functions[kernel] = self.device.kernel_type(self.linked, self.linked.entry(kernel or None))
        return self._functions[kernel]

    def run(self, launch: Launch, number: int, chosen: Sequence[int] = ()) -> Iterator[Batch]:
        """Run a launch and yield its events. chosen: numbers of the only blocks that run, ascending; all if empty.

        number: the launch's, from 0 on.
        """
        function = self.function(launch.kernel)
        where = f"{self._name}: launch {number} of {bare_name(function.entry)}"
        parameters = self.parameters(launch, where)
        yield from self.runs.run(function, _device_launch(launch, parameters, where, tuple(chosen)), number)

    def just_run(self, launch: Launch, number: int) -> None:
        """Run a launch whose events nobody wants.

        number: the launch's, from 0 on.
        """
        function = self.function(launch.kernel)
        where = f"{self._name}: launch {number} of {bare_name(function.entry)}"
        self.device.launch(function, _device_launch(launch, self.parameters(launch, where), where))

    def parameters(self, launch: Launch, where: str) -> bytes:
        """The bytes of a launch's parameters. where: how errors begin. Raises KernelError."""
        return packed(self.function(launch.kernel), launch, self._arrays, self._addresses, where)

    def described(self, launch: Launch) -> TraceLaunch:
        """The launch as a trace has it, with what the assembler says that the kernel takes."""
        function = self.function(launch.kernel)
        return self.runs.described(function, _device_launch(launch), launch.registers_per_thread)

    def writable(self, launch: Launch) -> Sequence[str]:
        """The arrays to be watched for stores that are not recorded: none, as no store goes unrecorded here."""
        return ()

    @property
    def has_accessed(self) -> bool:
        """Whether the launch run last has recorded any access."""
        return self.runs.has_accessed

    def has_stored(self, name: str) -> bool:
        """Whether the launch run last has recorded a store to an array: never used, as none is watched.

        name: of an array.
        """
        return False


def packed(
    function: KernelFunction, launch: Launch, arrays: Mapping[str, Array], addresses: Mapping[str, int], where: str
) -> bytes:
    """A launch's arguments as its kernel takes them.

    arrays: of the program, by name. addresses: what stands for each of them. where: how errors begin.

    Raises KernelError for arguments that the kernel does not take.
    """
    arguments: Sequence[Any] = launch.arguments
    if isinstance(arguments, NamedArguments):
        own, in_ptx = names(function.declared), [parameter.name for parameter in function.parameters]
        arguments = arguments.for_parameters(
            in_ptx if not own or set(arguments.names) & set(in_ptx) - set(own) else own, where
        )

    def address(argument: Any) -> int | None:
        return next((addresses[name] for name, array in arrays.items() if argument is array), None)

    return pack(function, [arrays.get(a, a) if isinstance(a, str) else a for a in arguments], address, where)


def _device_launch(
    launch: Launch, parameters: bytes = b"", where: str = "", chosen: tuple[int, ...] = ()
) -> DeviceLaunch:
    return DeviceLaunch(
        _three(launch.grid), _three(launch.block), parameters, launch.shared_memory_bytes, where, chosen=chosen
    )


def _three(sizes: int | tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*((sizes,) if isinstance(sizes, int) else sizes), 1, 1)[:3]
    return x, y, z
