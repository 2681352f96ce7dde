"""A device without hardware: memory, modules placed in it, and launches."""

import contextlib
import ctypes
import math
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.launches.device_memory import DeviceMemory
from simtmm.cuda.execution.launches.launch import LaunchState
from simtmm.cuda.execution.launches.run import FaultError, Log, Piece, StuckError, run
from simtmm.cuda.execution.livelock.others import other_streams
from simtmm.cuda.execution.livelock.watch import LivelockFoundError, PatienceError
from simtmm.cuda.execution.runtime.device_clock import DeviceClock, Latencies
from simtmm.cuda.execution.translation.function_code import function_address
from simtmm.cuda.faults import deadlock_text, fault_text
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.host_calls import HEAP_LIMIT, HostCalls
from simtmm.cuda.instead import instead
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.livelock_text import livelock_text, patience_text
from simtmm.cuda.patience import kernel_timeout
from simtmm.device import DeviceProperties, device_properties
from simtmm.errors import DeadlockError, KernelError, LivelockError, NoProgressError, RecordingError, shown
from simtmm.launch import bare_name

RESIDENT = 2048  # blocks that may be under way at once, where threads wait for other blocks
ANY = 90  # architecture whose devices take the largest blocks, which launches for no device in particular are held to


class Device:
    """Memory that kernels run on.

    write: takes what device code prints; standard output if left out. properties: what launches are held to; the
    largest of any device, but for registers, if left out. heap_limit: bytes that device code may allocate. kernel_type:
    what its kernels are. clock: what device code reads; by these latencies, or those of a GPU of today. touched: the
    allocations that the launch which came to its end last accessed, by their addresses; whether it wrote to them.
    prints: how often threads have called printf, by file and line.
    """

    kernel_type = KernelFunction

    def __init__(
        self,
        write: Callable[[str], object] | None = None,
        properties: DeviceProperties | None = None,
        latencies: Latencies | None = None,
    ) -> None:
        self.memory = DeviceMemory()
        self.properties = properties or device_properties(None, ANY)
        self.checks_registers = properties is not None
        self._write = write
        self._variables: dict[int, dict[str, npt.NDArray[np.uint8]]] = {}
        self._symbols: dict[int, dict[str, int]] = {}
        self._modules: list[LinkedModule] = []
        self._heap: dict[int, int] = {}
        self.heap_limit = HEAP_LIMIT
        self.clock = DeviceClock(latencies)
        self.touched: dict[int, bool] = {}
        self.prints: Counter[tuple[str, int]] = Counter()

    def pointer(self, address: int) -> int:
        """What kernels are given for a virtual address.

        address: a virtual one.
        """
        return address

    def variable(self, module: LinkedModule, name: str) -> npt.NDArray[np.uint8]:
        """The bytes of a __device__ or __constant__ variable.

        name: as the source has it.

        Raises KernelError.
        """
        self.symbols(module)
        held = self._variables[id(module)]
        if name not in held:
            raise KernelError(f"{module.units[0].name}: variable {name!r}: unknown; known: {', '.join(held)}")
        return held[name]

    def symbols(self, module: LinkedModule) -> Mapping[str, int]:
        """The addresses of a module's variables, which are placed when it is met first."""
        if id(module) not in self._symbols:
            self.adopt(module, initial_variables(module))
        return self._symbols[id(module)]

    def adopt(self, module: LinkedModule, variables: Mapping[str, npt.NDArray[np.uint8]]) -> Mapping[str, int]:
        """Place a module's variables where their bytes lie already; gives their addresses.

        variables: of all names that `initial_variables` has, of the same sizes.
        variables: by name, uint8[bytes] each.

        Raises KernelError for a pointer to what is not defined.
        """
        placed = {
            name: self.memory.place(name, array, module.module.variables[name].space == "const")
            for name, array in variables.items()
        }
        self._modules.append(module)  # an id is taken as long as its object lives
        self._variables[id(module)], self._symbols[id(module)] = dict(variables), placed
        self.point_to_variables(module)
        return placed

    def point_to_variables(self, module: LinkedModule) -> None:
        """Give pointers that variables hold from the start the addresses that variables have on this device."""
        addresses, arrays = self._symbols[id(module)], self._variables[id(module)]
        for name, variable in module.module.variables.items():
            for pointer in variable.pointers:
                pointed = pointer.symbol.name
                target = addresses.get(pointed)
                if target is None and pointed in module.module.functions:
                    target = function_address(pointed)
                if target is None:
                    raise KernelError(f"{module.units[0].name}: {name} points to {pointed}, which is not defined")
                if name in arrays:
                    place = slice(pointer.offset, pointer.offset + pointer.size)
                    arrays[name][place] = np.frombuffer(pointer.held(target), np.uint8)

    def forget(self, module: LinkedModule) -> None:
        """Take a module's variables out, if they are there; their addresses are not given again."""
        for address in self._symbols.pop(id(module), {}).values():
            self.memory.remove(address)
        self._variables.pop(id(module), None)
        self._modules = [each for each in self._modules if each is not module]

    def launch(
        self,
        function: KernelFunction,
        launch: "DeviceLaunch",
        blocks: int | None = None,
        write: Callable[[str], object] | None = None,
        seconds: float = math.inf,
    ) -> None:
        """Run a kernel to its end, or so many of its blocks; raises what `run` raises, whose the arguments are.

        blocks, write, seconds: as there.
        """
        # Closed before anything else, so that nothing runs any more when an interrupt has come.
        with contextlib.closing(self.run(function, launch, False, blocks, write, seconds)) as pieces:
            for _ in pieces:
                pass

    def run(
        self,
        function: KernelFunction,
        launch: "DeviceLaunch",
        record: bool = True,
        blocks: int | None = None,
        write: Callable[[str], object] | None = None,
        seconds: float = math.inf,
        log: Log | None = None,
    ) -> Generator[Piece, None, None]:
        """Run a kernel piece by piece: yields pieces of its log (execution/launches/launch.py), empty ones without.

        blocks: that run, from the first on; all if left out. write: takes what device code prints, instead of what
        the device was created with. seconds: that it may take, about.
        record: whether its accesses are logged.
        log: ends that before the launch ends.

        Raises KernelError for a launch that no device takes, PtxError, and RecordingError for what a thread did wrong,
        for threads that wait for each other or go round for ever, and where nothing comes of them for too long
        (simtmm.cuda.patience); SlowError where it takes longer than it may.
        """
        where = launch.where or f"launch of {bare_name(function.entry)}"
        function = instead(self, function, launch)
        program, patience = function.program, kernel_timeout()
        check_shape(function, launch, function.shared_bytes(launch.shared_bytes), where, self.properties)
        symbols = self.symbols(function.linked)
        state = LaunchState(
            program, self.memory, dict(symbols), launch.grid, launch.block, launch.parameters, launch.shared_bytes,
            self.properties.multiprocessors, launch.textures, self.clock, cluster_of(function, launch, where),
        )  # fmt: skip
        chosen = launch.chosen[:blocks]
        if not chosen:
            state.blocks = min(state.blocks, blocks or state.blocks)
        _check_chosen(chosen, state, where)
        calls = HostCalls(function, state, write or self._write, self._heap, self.heap_limit)
        state.launch["callback"] = ctypes.cast(calls.address, ctypes.c_void_p).value or 0
        try:
            yield from run(
                state, function.code, record, RESIDENT, program.calls_host, seconds, chosen,
                lambda: function.watched.code, patience, launch.concurrent or other_streams(), log,
            )  # fmt: skip
            self.touched = state.touched
            self.prints += calls.prints
        except FaultError as fault:
            if calls.error is not None:
                if isinstance(calls.error, RecordingError):
                    raise RecordingError(f"{where}: {calls.error}") from None
                raise calls.error from None
            raise RecordingError(f"{where}: {fault_text(function, *fault.args)}") from None
        except StuckError as stuck:
            raise DeadlockError(f"{where}: {deadlock_text(function, *stuck.args)}") from None
        except PatienceError as over:
            raise NoProgressError(f"{where}: {patience_text(function, state, over.block, patience)}") from None
        except LivelockFoundError as found:
            raise LivelockError(f"{where}: {livelock_text(function, found.livelock)}") from None


def initial_variables(module: LinkedModule) -> dict[str, npt.NDArray[np.uint8]]:
    """The bytes of a module's __device__ and __constant__ variables as they are at first, by name."""
    arrays: dict[str, npt.NDArray[np.uint8]] = {}
    for name, variable in module.module.variables.items():
        if variable.space not in ("global", "const") or variable.extern:
            continue
        # Whole words, so that what is aligned to them may be read as such.
        array = np.zeros(-(-max(1, variable.size) // 16) * 16, np.uint8)[: max(1, variable.size)]
        if variable.initial is not None:
            array[: len(variable.initial)] = np.frombuffer(variable.initial, np.uint8)
        arrays[name] = array
    return arrays


@dataclass(frozen=True)
class DeviceLaunch:
    """A launch as a device takes it.

    grid, block: sizes in x, y, z. parameters: as the kernel has them, one behind the other. shared_bytes: dynamic
    shared memory. where: how errors begin. textures: rows of layout.TEXTURE, which handles of the parameters number.
    chosen: numbers of the only blocks that run, ascending; all if empty. concurrent: whether work of other streams may
    go on meanwhile, on a GPU. cluster: blocks of a cluster in x, y, z; as the kernel says if left out.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    parameters: bytes
    shared_bytes: int = 0
    where: str = ""
    textures: bytes = b""
    chosen: tuple[int, ...] = ()
    concurrent: bool = False
    cluster: tuple[int, int, int] | None = None


MOST_OF_CLUSTER = 16  # blocks, which larger ones than 8 must be allowed for on a GPU


def cluster_of(function: KernelFunction, launch: DeviceLaunch, where: str) -> tuple[int, int, int] | None:
    """Blocks of a cluster along each axis, None without clusters.

    where: how errors begin.

    Raises KernelError for what no device takes.
    """
    bounds = function.linked.module.functions[function.entry].bounds
    own = bounds.get("reqnctapercluster")
    x, y, z, *_ = (*own, 1, 1) if own else (0, 0, 0)
    declared = (x, y, z) if own else None
    found = launch.cluster or declared
    if found is None:
        return None
    if declared is not None and found != declared:
        raise KernelError(
            f"{where}: clusters of {shown(found)} blocks: must be {shown(declared)}, as the kernel declares"
        )
    most = min([MOST_OF_CLUSTER, *bounds.get("maxclusterrank", ())])
    if not 1 <= found[0] * found[1] * found[2] <= most:
        raise KernelError(f"{where}: clusters of {shown(found)} blocks: must be 1 to {most}")
    for axis, size, blocks in zip("xyz", found, launch.grid, strict=True):
        if size < 1 or blocks % size:
            raise KernelError(f"{where}: grid.{axis} = {blocks}: must be a multiple of a cluster's {size} blocks")
    if launch.chosen and found != (1, 1, 1):
        raise KernelError(f"{where}: blocks of a cluster can't be run separately")
    return found


def _check_chosen(chosen: tuple[int, ...], state: LaunchState, where: str) -> None:
    """Raise KernelError for blocks that can't be run alone."""
    if chosen and state.program.communicates:
        raise KernelError(f"{where}: threads may wait for other blocks, so a part of the blocks can't be run alone")
    if any(not 0 <= number < state.blocks for number in chosen) or list(chosen) != sorted(set(chosen)):
        raise KernelError(f"{where}: blocks {shown(chosen)}: must be ascending numbers below {state.blocks}")


def check_shape(
    function: KernelFunction, launch: DeviceLaunch, shared: int, where: str, properties: DeviceProperties
) -> None:
    """Raise KernelError for a launch that a device does not take.

    shared: shared memory in all [bytes]. where: how errors begin. properties: of the device.
    """
    grid, block = launch.grid, launch.block
    sizes_of = (("grid", grid, properties.grid_sizes), ("block", block, properties.block_sizes))
    for name, sizes, most in sizes_of:
        for axis, size, limit in zip("xyz", sizes, most, strict=True):
            if not 1 <= size <= limit:
                raise KernelError(f"{where}: {name}.{axis} = {size}: must be 1 to {limit}")
    threads = block[0] * block[1] * block[2]
    most_of_device = properties.threads_per_block
    most_threads = min(most_of_device, function.most_threads or most_of_device)
    if threads > most_threads:
        why = " by its launch bounds" if function.most_threads and function.most_threads < most_of_device else ""
        raise KernelError(f"{where}: block of {threads} threads: must be at most {most_threads}{why}")
    if function.program.meets_as_grid and grid[0] * grid[1] * grid[2] > RESIDENT:
        raise KernelError(
            f"{where}: {grid[0] * grid[1] * grid[2]} blocks that wait for one another: must be at most {RESIDENT}"
        )
    if shared > properties.shared_per_block_optin:
        raise KernelError(
            f"{where}: {shared:,} bytes of shared memory: must be at most {properties.shared_per_block_optin:,}"
        )
