"""The programs and machines that a page may name: what is shipped, and what was opened when the server started.

A kernel is code, and an address may come from anywhere. So a name in it means a shipped kernel, one in a folder that
the user gave, or what was named at the start; it is never a path. Recordings and lowered workloads are cached; the
least recently used goes first.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from simtmm.catalogue import describe, kernel_folders
from simtmm.errors import KernelError, MachineError, nearest, shown
from simtmm.kernel import Kernel, kernel_in
from simtmm.machine import Machine, load_machine
from simtmm.machine.known import known_machines
from simtmm.parameter import Parameter
from simtmm.program import Prepared, Program, Source, kind_of, open_program
from simtmm.trace.counts import Counts, count
from simtmm.trace.lower import check_fits, fit, lower_or_stream_with
from simtmm.trace.specification import CountingSpecification, LoweringSpecification
from simtmm.trace.streamed import AnyWorkload
from simtmm.watch import tell
from simtmm.workload import Workload

Value = TypeVar("Value")
MOST_PROGRAMS = 12  # recordings that are kept
MOST_LOWERED = 6  # workloads of each
MOST_BYTES = 128 << 20  # of these together
LONGEST_NAME = 200


class Kept:
    """The results that were used last, by key.

    most: how many. size, most_bytes: what one takes, and all may take; the newest always stays.
    """

    def __init__(self, most: int, size: Callable[[Any], int] | None = None, most_bytes: int = 0) -> None:
        self._most, self._size, self._most_bytes = most, size, most_bytes
        self._lock = threading.Lock()
        self._there: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value cached under the key, or the result of `make`, which is then cached."""
        with self._lock:
            if key in self._there:
                self._there.move_to_end(key)
                found: Value = self._there[key]
                return found
        value = make()  # without the lock: a page that is slow holds up no other
        with self._lock:
            self._there[key] = value
            self._there.move_to_end(key)
            while len(self._there) > self._most or (len(self._there) > 1 and self._is_too_large()):
                self._there.popitem(last=False)
        return value

    def _is_too_large(self) -> bool:
        return self._size is not None and sum(map(self._size, self._there.values())) > self._most_bytes

    def __len__(self) -> int:
        return len(self._there)


def bytes_of(workload: AnyWorkload) -> int:
    """What a workload takes of memory; one that is streamed takes what its trace does, which stays anyway."""
    if not isinstance(workload, Workload):
        return 0
    return sum(value.nbytes for value in vars(workload).values() if isinstance(value, np.ndarray))


@dataclass(frozen=True)
class HeldProgram(Program):
    """A program with cached workloads and counts: a move that lowers nothing anew doesn't wait for lowering."""

    lowered: Kept = field(default_factory=lambda: Kept(MOST_LOWERED, bytes_of, MOST_BYTES), compare=False, repr=False)
    counted: Kept = field(default_factory=lambda: Kept(4 * MOST_LOWERED), compare=False, repr=False)

    @classmethod
    def of(cls, program: Program) -> "HeldProgram":
        """The same program."""
        return cls(
            program.name,
            program.parameters,
            program.trace,
            program.workload,
            program.kernel,
            program.notes,
            program.sources,
        )

    def on(
        self, machine: Machine, progress: Callable[[int, int], None] | None = None, places: bool = False
    ) -> Prepared:
        """Its workload and counts on a machine, as `Program.on` gives them."""
        trace = self.trace
        if trace is None:
            return super().on(machine, progress, places)
        check_fits(trace.info, machine)
        specification = LoweringSpecification.of(machine, places)

        def lower() -> AnyWorkload:
            return lower_or_stream_with(trace, specification, progress)[0]

        workload = fit(self.lowered.get(specification, lower), trace.info, machine)
        counts: Counts = self.counted.get(
            (CountingSpecification.of(machine), tuple(workload.launch_limits.tolist())),
            lambda: count(trace, machine, workload),  # a stream is counted by its trace
        )
        return Prepared(machine, workload, counts)


@dataclass(frozen=True)
class Opened:
    """What was named at the start. source: as it is opened; text: as it was named, for what Save writes."""

    source: Source
    text: str


class Programs:
    """What a page may name.

    opened, machines: by the names that addresses have for them, besides those known by name.
    """

    def __init__(
        self,
        opened: Mapping[str, Opened] | None = None,
        machines: Mapping[str, tuple[Machine, str]] | None = None,
    ) -> None:
        self.opened = dict(opened or {})
        self.given_machines = dict(machines or {})
        self._folders = kernel_folders()  # as they are at the start: looking takes longer than simulating
        self._machine_names = [name for name, known in known_machines().items() if known.origin != "here"]
        self._programs = Kept(MOST_PROGRAMS)
        self._kernels = Kept(MOST_PROGRAMS)
        self._machines = Kept(MOST_PROGRAMS)
        self._parameters = Kept(MOST_PROGRAMS)

    def names(self) -> list[str]:
        """All programs that can be named, those that were opened first."""
        return [*self.opened, *(name for name in self._folders if name not in self.opened)]

    def machine_names(self) -> list[str]:
        """All machines that can be named, those that were opened first."""
        return [*self.given_machines, *(name for name in self._machine_names if name not in self.given_machines)]

    def machine(self, name: str) -> Machine:
        """The machine of this name. Raises MachineError."""
        if name in self.given_machines:
            return self.given_machines[name][0]
        names = self.machine_names()
        if name not in names:
            raise MachineError(
                f"machine {shown(name)}: is not available on this page{nearest(name[:LONGEST_NAME], names)}"
            )
        return self._machines.get(name, lambda: load_machine(name))

    def source(self, name: str) -> Source:
        """What this name stands for. Raises KernelError."""
        if name in self.opened:
            return self.opened[name].source
        if name not in self._folders:
            raise KernelError(
                f"program {shown(name)}: is not available on this page: use a shipped kernel, one of a folder that was "
                f"given, or what was opened at the start{nearest(name[:LONGEST_NAME], self.names())}"
            )
        return self._folders[name]

    def name_for_user(self, name: str) -> str:
        """What a command line says for this program."""
        return self.opened[name].text if name in self.opened else name

    def machine_name_for_user(self, name: str) -> str:
        """What a command line says for this machine."""
        return self.given_machines[name][1] if name in self.given_machines else name

    def parameters(self, name: str) -> Mapping[str, Parameter]:
        """The parameters of a kernel; none of anything else. Raises KernelError."""
        source = self.source(name)
        if isinstance(source, Kernel):
            return source.parameters
        if kind_of(source) != "kernel":
            return {}

        def read_parameters() -> Mapping[str, Parameter]:
            description = describe(name, Path(str(source)))
            return self._kernel(name).parameters if description.untold or description.fault else description.parameters

        return self._parameters.get(name, read_parameters)

    def _kernel(self, name: str) -> Kernel:
        return self._kernels.get(name, lambda: kernel_in(Path(str(self.source(name)))))

    def program(self, name: str, parameters: Mapping[str, str], machine: Machine) -> HeldProgram:
        """The program of this name, recorded if it is a kernel. Raises KernelError and the errors of recording."""
        source = self.source(name)
        kind = kind_of(source)
        if kind != "kernel":
            if parameters:
                raise KernelError(f"program {name}: parameters ({', '.join(parameters)}) are for kernels")
            return self._programs.get(name, lambda: HeldProgram.of(open_program(source)))
        kernel = source if isinstance(source, Kernel) else self._kernel(name)
        resolved = kernel.resolve(parameters)
        # A kernel that is recorded as compiled is another one on another architecture
        key = (name, *resolved.items(), machine.compute_capability)

        def record() -> HeldProgram:
            return HeldProgram.of(
                open_program(kernel, resolved, lambda events: tell("recording", events), machine=machine)
            )

        return self._programs.get(key, record)
