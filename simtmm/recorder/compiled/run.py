"""Launches of compiled kernels on a device: their log becomes events, with what a trace says of them."""

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm import own_faults
from simtmm.cuda.checks.active import check
from simtmm.cuda.compilers import bare_name, compiled_by
from simtmm.cuda.device import Device, DeviceLaunch, cluster_of
from simtmm.cuda.disagreement.comparison import Comparison, compare
from simtmm.cuda.execution.launches.launch import clusters_of, local_bytes_of
from simtmm.cuda.execution.launches.run import Log
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.instead import is_trying
from simtmm.cuda.log.events import LogReader
from simtmm.cuda.machine_function import MachineFunction, machine_function
from simtmm.errors import InternalError, RecordingError
from simtmm.files import KERNEL_MEMORY
from simtmm.recorder.compiled.listings import Room, machine_listing, ptx_listing
from simtmm.recorder.compiled.mbarriers import mbarriers_of
from simtmm.recorder.compiled.sites import CompiledSites, is_for_warps
from simtmm.recorder.compiled.spins import without_spins
from simtmm.recorder.compiled.untimed import DROPS, WAITS, drops_out, untimed
from simtmm.recorder.limits import kernel_memory
from simtmm.trace.runs.long_block import most_of_a_block
from simtmm.trace.schedule import Listing, Schedule
from simtmm.trace.schema import Batch, TraceArray, TraceLaunch


@dataclass
class _Scheduled:
    """A kernel, and what was found of its machine code.

    compared: blocks that were run both ways. fault: of simtmm, which was met on the way; "" for none.
    """

    function: KernelFunction
    machine: MachineFunction | None
    why: str
    launches: int = 0
    compared: int = 0
    fault: str = ""

    @classmethod
    def of(cls, function: KernelFunction) -> "_Scheduled":
        """A kernel that is met first. A fault of ours in lifting it costs no more than its machine code."""
        try:
            return cls(function, *machine_function(function))
        except InternalError as error:
            unit = function.linked.units[0]
            fault = str(own_faults.with_report(error, {f"{unit.name}.ptx, for {unit.target}": unit.ptx}))
            own_faults.note(fault)
            return cls(function, None, error.fault, fault=fault)

    def differs(self, number: int, found: Comparison) -> None:
        """Its machine code is not what runs from now on: it does something else than its PTX."""
        self.machine, self.why = None, f"launch {number} differs from its PTX: {found.differs}"
        if found.is_fault:
            what = f"{bare_name(self.function.entry)}: {self.why}: {own_faults.OURS}"
            self.fault = f"{what}{own_faults.to_send(own_faults.report(what, dict(found.report)))}"
            own_faults.note(self.fault)

    @property
    def schedule(self) -> Schedule:
        """The parts of its trace."""
        unit = self.function.linked.units[0]
        target, by = unit.target, compiled_by(unit.ptx)
        name = bare_name(self.function.entry)
        if self.machine is None:
            return Schedule(name, "ptx", target, why=self.why, compiler=by, fault=self.fault)
        return Schedule(name, "machine code", target, self.compared, tuple(self.machine.at_once), compiler=by)


class LaunchRuns:
    """Launches on a device, one after another.

    sites: of the kernels launched so far. for_warps: whether one of them has instructions for warps of 32.
    has_accessed: whether the launch run last has recorded any access. compares: whether machine code is compared with
    PTX now and then as kernels are launched. timed: kernels that read a clock of the device, by name.
    untimed: what the time of kernels leaves out, by name (untimed.py). races: the lines that race, by kernel.
    mbarriers: the bytes of shared memory at which blocks have used any. prints: how often threads have called printf,
    by file and line. straight: whether batches go straight to a TraceRecorder, so that they may have blocks that stand
    as distances.
    """

    def __init__(self, device: Device, most_events: int, machine_code: bool = True) -> None:
        """most_events: of all launches. machine_code: whether kernels run as such where they can."""
        self.straight = False
        self.device = device
        self._machine_code = machine_code
        self._functions: dict[int, _Scheduled] = {}
        self._run: dict[int, KernelFunction] = {}  # as PTX
        self.sites = CompiledSites()
        self.for_warps = False
        self._left = self._most = most_events
        self._memory = kernel_memory()
        self._of_a_block = most_of_a_block()
        self._arrays: list[TraceArray] = []
        self.has_accessed = False
        self.compares = True
        self.timed: dict[str, None] = {}
        self.untimed: dict[str, tuple[str, ...]] = {}
        self.races: dict[str, str] = {}
        self.mbarriers: set[int] = set()
        self.prints: Counter[tuple[str, int]] = Counter()
        self._has_mbarriers = False  # whether a kernel launched so far has

    def run(
        self, function: KernelFunction, launch: DeviceLaunch, number: int, log: Log | None = None,
        ended: Callable[[int], None] = lambda blocks: None,
    ) -> Generator[Batch, None, None]:  # fmt: skip
        """Run a launch and yield its events.

        number: the launch's, from 0 on. log: ends the recording before the launch ends. ended: called with the
        blocks before which all have ended, where nothing is recorded.

        Raises what `Device.run` raises, and RecordingError for too many.
        """
        check(self.device, function, launch)
        self.for_warps = self.for_warps or is_for_warps(function.program)
        if function.program.times:
            self.timed[bare_name(function.entry)] = None
        cluster = _cluster(function, launch)
        self._leave_out(function, *untimed(function.program))
        function = self._scheduled(function, launch, number)
        table = self.sites.table(function)
        self._has_mbarriers = any(site.kind == "mbarrier" for site in self.sites.sites)
        x, y, z = launch.block
        drops = drops_out(function.program)
        compares = self.straight and not function.program.communicates
        ranks, order = in_clusters(launch.grid, cluster)
        reader = LogReader(table, x * y * z, ranks, drops, compares, order)
        printed = Counter(self.device.prints)  # by comparisons and earlier launches
        self.table()  # what is taken out of the device before the next launch stands in it
        with contextlib.closing(self.device.run(function, launch, log=log)) as pieces:
            for piece, before in pieces:
                if not len(piece):
                    ended(before)
                    continue
                for batch in reader.add(piece, before):
                    yield self._counted(batch, number, launch.where)
                self._check(reader.held_events, launch.where)
                self._check_room(reader, launch.where)
        for batch in reader.rest():
            yield self._counted(batch, number, launch.where)
        self.has_accessed = reader.accesses > 0
        self.prints += self.device.prints - printed
        if reader.waits_left_out:
            self._leave_out(function, DROPS if drops else WAITS)

    def _leave_out(self, function: KernelFunction, *what: str) -> None:
        """Note what the time of a kernel leaves out, at this launch or another."""
        name = bare_name(function.entry)
        if what:
            self.untimed[name] = tuple(dict.fromkeys((*self.untimed.get(name, ()), *what)))

    def _scheduled(self, function: KernelFunction, launch: DeviceLaunch, number: int) -> KernelFunction:
        """The kernel as machine code, if it does what its PTX does, as far as that was tried; else unchanged."""
        self._run[id(function)] = function
        if not self._machine_code or is_trying():
            return function
        known = self._functions.get(id(function))
        if known is None:
            known = self._functions[id(function)] = _Scheduled.of(function)
        known.launches += 1
        is_due = self.compares or known.launches == 1
        if (
            is_due and known.machine is not None and known.launches & known.launches - 1 == 0
        ):  # the 1st, 2nd, 4th, 8th ...
            found = compare(self.device, known.machine, function, launch)
            if found is not None and found.race:
                self.races.setdefault(bare_name(function.entry), found.race)
            if found is not None and found.differs is not None:
                known.differs(number, found)
            elif found is not None:
                known.compared = known.compared + found.blocks
        return known.machine or function

    @property
    def schedules(self) -> list[Schedule]:
        """Of each kernel, what its instructions, their order and their waits are from."""
        return [known.schedule for known in self._functions.values()]

    @property
    def listings(self) -> list[Listing]:
        """The code of each kernel: as PTX, and as machine code where that was run."""
        room = Room()
        found = []
        for number, function in self._run.items():
            known = self._functions.get(number)
            if known is not None and known.machine is not None:
                found.append(machine_listing(known.machine, self.sites.first_of(known.machine), room))
            found.append(ptx_listing(function, self.sites.first_of(function), room))
        return found

    def _counted(self, batch: Batch, number: int, where: str) -> Batch:
        batch = without_spins(batch)
        if self._has_mbarriers:
            self.mbarriers.update(mbarriers_of(batch.events))
        self._left -= batch.count
        self._check(0, where)
        batch.launch[:] = number
        return batch

    def _check(self, held: int, where: str) -> None:
        """Raise RecordingError where there are too many events, with so many of blocks that go on."""
        if held > self._left or self._left < 0:
            raise RecordingError(
                f"{where}: more than {self._most:,} events, the limit: does it loop for ever? If not, "
                "write to a file (simtmm record -o FILE), use smaller parameters or raise most_events"
            )

    def _check_room(self, reader: LogReader, where: str) -> None:
        """Raise RecordingError where blocks that go on fill memory, or one of them its file."""
        if reader.held_bytes > self._memory:
            raise RecordingError(
                f"{where}: events of unfinished blocks fill {self._memory:,} bytes of memory: do they loop "
                f"for ever? If not, raise {KERNEL_MEMORY}"
            )
        if reader.longest > self._of_a_block:
            raise RecordingError(
                f"{where}: a block recorded over {self._of_a_block:,} events, the limit for temporary "
                "files: does it loop for ever? If not, set TMPDIR to a folder with more space"
            )

    def described(self, function: KernelFunction, launch: DeviceLaunch, registers: int = 0) -> TraceLaunch:
        """A launch as a trace has it, with what the assembler says that the kernel takes.

        registers: of a thread, where there is no assembler to ask.

        Raises KernelError for a block that needs more registers than one may have on the device.
        """
        resources = function.linked.resources_of(function.entry)
        taken = resources.registers if resources else registers
        if self.device.checks_registers:
            x, y, z = launch.block
            self.device.properties.check_registers(taken, x * y * z, launch.where)
        return TraceLaunch(
            bare_name(function.entry),
            launch.grid,
            launch.block,
            taken,
            function.shared_bytes(launch.shared_bytes),
            local_bytes_of(function.program, resources.local_bytes if resources else 0),
            max(resources.spill_store_bytes, resources.spill_load_bytes) if resources else 0,
            cluster=math.prod(_cluster(function, launch)),
        )

    def table(self) -> list[TraceArray]:
        """The arrays, and the variables of modules that have been met, as a trace describes them.

        Those that were taken out of the device since an earlier call are among them: its launches have touched them.
        """
        newest = self._arrays[-1].base if self._arrays else -1
        added = []
        for allocation in reversed(self.device.memory.allocations):  # in the order of their addresses
            if allocation.base <= newest:
                break
            array = allocation.array if allocation.array is not None else allocation.data
            space = "constant" if allocation.constant else "global"
            added.append(
                TraceArray(
                    allocation.name, allocation.base, allocation.bytes, np.dtype(array.dtype).str, tuple(array.shape),
                    space,
                )
            )  # fmt: skip
        self._arrays += reversed(added)
        return list(self._arrays)


def _cluster(function: KernelFunction, launch: DeviceLaunch) -> tuple[int, int, int]:
    """The blocks of a cluster along x, y and z; one without clusters."""
    return cluster_of(function, launch, launch.where) or (1, 1, 1)


def in_clusters(
    grid: tuple[int, int, int], cluster: tuple[int, int, int]
) -> tuple[npt.NDArray[np.int64] | None, npt.NDArray[np.int64] | None]:
    """The rank of each block in its cluster, and the numbers of blocks, in the order of a trace: cluster by cluster.

    None for the order of the grid, and for the ranks without clusters.

    grid, cluster: blocks along x, y and z.
    """
    size, blocks = math.prod(cluster), math.prod(grid)
    if size == 1:
        return None, None
    numbers = np.fromiter((number for each in clusters_of(grid, cluster) for number in each), np.int64, blocks)
    is_same = bool((numbers == np.arange(blocks)).all())
    return np.arange(blocks) % size, None if is_same else numbers
