"""The properties of a device: those of the machine that is simulated, else of its compute capability."""

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from simtmm.computer import memory
from simtmm.errors import KernelError
from simtmm.machine import Machine

WARP_SIZE = 32
CUDA_VERSION = 13000  # that driver and runtime say: 13.0, of the compiler's wheels
MULTIPROCESSORS = 132  # where there is no machine: those of an H100, what most CUDA code is tuned for now
CLOCK_KHZ = 1_000_000  # where the machine has no clock: programs divide by it
MOST_THREADS = 1024  # of a block
MOST_BLOCK = (1024, 1024, 64)
MOST_GRID = (2**31 - 1, 65535, 65535)
STATIC_SHARED = 48 << 10  # bytes of shared memory that a block has without asking for more
OPTIN_SINCE = 70  # compute capability, times ten, from which a kernel may ask for more
REGISTERS = 1 << 16  # of a multiprocessor, and of a block
THREAD_REGISTERS = 255
CONSTANT = 64 << 10
MOST_MEMORY, LEAST_MEMORY = 1 << 35, 1 << 28  # bytes of a device, where the computer has them
BUS_BITS = 512  # a bus so wide has the machine's bandwidth at twice the memory clock, where its own is not known
# By name: width of the bus [bits] and clock of the memory [kHz], as such a GPU tells them.
MEMORIES = {"H100 SXM": (5120, 2_619_000)}
NEARLY = 0.01  # a data sheet's bandwidth is a round number
LARGEST = 2**31 - 1  # CUDA gives most properties as an int


@dataclass(frozen=True)
class DeviceProperties:
    """What a device says of itself, and what launches on it are held to.

    A multiprocessor is a core group of the machine.

    name: the machine's.
    compute_capability: major and minor, of the architecture that kernels are compiled for.
    multiprocessors: how many there are.
    warp_size: threads of a warp, as CUDA code sees them.
    warp_width: threads of a warp of the machine, whole ones of which a block takes room and registers for.
    clock_khz: clock of the cores [kHz]; 1 GHz where the machine has none.
    memory_clock_khz: clock of the memory [kHz], by which a bus of `bus_bits` has the machine's bandwidth; 0: not known.
    bus_bits: width of the memory bus [bits].
    global_bytes: global memory [bytes]; where the machine does not say, half of this computer's, up to 32 GiB.
    l2_bytes: L2 cache [bytes]; 0: none, or not known.
    constant_bytes: constant memory [bytes].
    threads_per_block: threads of a block at most.
    block_sizes, grid_sizes: threads of a block, and blocks of a grid, along x, y and z at most.
    threads_per_multiprocessor, blocks_per_multiprocessor: resident at once at most.
    registers_per_multiprocessor, registers_per_block, registers_per_thread: [32-bit registers].
    register_unit: a warp gets whole units of so many registers; 0: each thread has just its own.
    register_files: equal parts of a multiprocessor's registers, of which a warp's lie in one.
    shared_per_multiprocessor: shared memory [bytes].
    shared_per_block: shared memory of a block that has not asked for more [bytes].
    shared_per_block_optin: shared memory of a block that has [bytes].
    shared_reserved: shared memory that each block takes beside its own [bytes].
    shared_unit: a block gets whole units of shared memory of so many [bytes].
    fp32_to_fp64: results in single precision for each in double precision, per clock; 0: not known.
    """

    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    clock_khz: int
    memory_clock_khz: int
    global_bytes: int
    l2_bytes: int
    threads_per_block: int
    threads_per_multiprocessor: int
    blocks_per_multiprocessor: int
    registers_per_multiprocessor: int
    registers_per_block: int
    register_unit: int
    register_files: int
    shared_per_multiprocessor: int
    shared_per_block: int
    shared_per_block_optin: int
    shared_reserved: int
    shared_unit: int
    fp32_to_fp64: int
    warp_size: int = WARP_SIZE
    warp_width: int = WARP_SIZE
    bus_bits: int = BUS_BITS
    constant_bytes: int = CONSTANT
    registers_per_thread: int = THREAD_REGISTERS
    block_sizes: tuple[int, int, int] = MOST_BLOCK
    grid_sizes: tuple[int, int, int] = MOST_GRID

    @property
    def warps_per_multiprocessor(self) -> int:
        """Resident warps at most, as wide as the machine's."""
        return self.threads_per_multiprocessor // self.warp_width

    def most_threads(self, registers: int, bound: int | None = None) -> int:
        """Threads that a block of a kernel may have.

        registers: of a thread; 0 where they are not known. bound: the kernel's own, by its launch bounds.
        """
        most = min(self.threads_per_block, bound or self.threads_per_block)
        return min(most, self._of_block(registers)) if registers else most

    def check_registers(self, registers: int, threads: int, where: str) -> None:
        """Raise KernelError for a block that needs more registers than one may have.

        registers: of a thread; 0 where they are not known. threads: of the block. where: how the error begins.
        """
        if registers > self.registers_per_thread:
            raise KernelError(
                f"{where}: {registers} registers of a thread: must be at most {self.registers_per_thread}"
            )
        if registers and threads > self._of_block(registers):
            raise KernelError(
                f"{where}: a block of {threads} threads of {registers} registers: must be at most "
                f"{self._of_block(registers)} threads, as a block may have {self.registers_per_block:,} registers; "
                "__launch_bounds__ makes the compiler use fewer"
            )

    def resident_blocks(self, threads: int, registers: int, shared: int) -> int:
        """Blocks that a multiprocessor holds at once; 0 where none fits.

        threads: of a block. registers: of a thread; 0 where they are not known. shared: memory of a block [bytes].
        """
        if threads > self.most_threads(registers) or shared > self.shared_per_block_optin:
            return 0
        found = min(self.blocks_per_multiprocessor, self.warps_per_multiprocessor // -(-threads // self.warp_width))
        if registers:
            per_block = threads if not self.register_unit else -(-threads // self.warp_width) * self.warp_width
            found = min(found, self._at_once(registers) // per_block)
        if shared:
            whole = -(-shared // self.shared_unit) * self.shared_unit
            found = min(found, self.shared_per_multiprocessor // (whole + self.shared_reserved))
        return found

    def _of_block(self, registers: int) -> int:
        """Threads of a block that a block's registers suffice for."""
        if not self.register_unit:
            return self.registers_per_block // registers
        of_warp = -(-registers * self.warp_width // self.register_unit) * self.register_unit
        return min(self._at_once(registers), self.warp_width * (self.registers_per_block // of_warp))

    def _at_once(self, registers: int) -> int:
        """Threads that a multiprocessor's registers suffice for, in whole warps: as in simtmm/machine/residency.py."""
        if not self.register_unit:
            return self.registers_per_multiprocessor // registers
        of_warp = -(-registers * self.warp_width // self.register_unit) * self.register_unit
        of_files = self.registers_per_multiprocessor // self.register_files // of_warp * self.register_files
        return self.warp_width * of_files


def device_properties(machine: Machine | None, architecture: int) -> DeviceProperties:
    """The properties of a machine as a device; what it leaves out is as on GPUs of the architecture.

    machine: that is simulated; None for a program that is recorded for none.
    architecture: that kernels are compiled for, compute capability times ten.
    """
    usual = _usual(architecture)
    own_capability = _capability(machine, architecture)
    ratio = _table().get(own_capability, {}).get("fp32_to_fp64", 0)
    major, minor = divmod(architecture, 10)
    kib = 1 << 10
    if machine is None:
        return DeviceProperties(
            name=f"simulated sm_{architecture}", compute_capability=(major, minor), multiprocessors=MULTIPROCESSORS,
            clock_khz=CLOCK_KHZ, memory_clock_khz=0, global_bytes=_global_bytes(), l2_bytes=0,
            threads_per_block=MOST_THREADS, threads_per_multiprocessor=usual["threads"],
            blocks_per_multiprocessor=usual["blocks"], registers_per_multiprocessor=REGISTERS,
            registers_per_block=REGISTERS, register_unit=256, register_files=4,
            shared_per_multiprocessor=usual["shared"] * kib, shared_per_block=STATIC_SHARED,
            shared_per_block_optin=usual["optin"] * kib, shared_reserved=(usual["shared"] - usual["optin"]) * kib,
            shared_unit=128, fp32_to_fp64=ratio,
        )  # fmt: skip
    own, cache = machine.resources, machine.memory.l2
    if own.shared_memory is None:
        shared, optin, reserved = usual["shared"] * kib, usual["optin"] * kib, (usual["shared"] - usual["optin"]) * kib
    else:
        shared, reserved = own.shared_memory, own.shared_memory_reserved or 0
        optin = shared - reserved if shared > reserved else shared
        if own_capability < OPTIN_SINCE:
            optin = min(optin, STATIC_SHARED)
    threads = min(
        math.floor(machine.cores.max_threads_per_core * machine.cores.cores_per_group),
        machine.warps_per_group * machine.cores.warp_width,
        LARGEST,
    )
    registers = own.registers or REGISTERS
    bus_bits, memory_clock_khz = _memory(machine)
    return DeviceProperties(
        name=machine.name, compute_capability=(major, minor), multiprocessors=machine.cores.groups,
        clock_khz=min(LARGEST, int(machine.clock_hz / 1e3)) if machine.clock_hz else CLOCK_KHZ,
        memory_clock_khz=memory_clock_khz, bus_bits=bus_bits,
        global_bytes=machine.memory_bytes or _global_bytes(),
        l2_bytes=min(LARGEST, cache.sets * cache.ways * machine.chunk_bytes) if cache else 0,
        threads_per_block=min(own.threads_per_block or MOST_THREADS, MOST_THREADS, threads),
        threads_per_multiprocessor=threads,
        blocks_per_multiprocessor=machine.limits.blocks_per_group or usual["blocks"],
        registers_per_multiprocessor=registers, registers_per_block=min(registers, REGISTERS),
        register_unit=own.register_unit or 0, register_files=own.register_files or 1,
        shared_per_multiprocessor=shared, shared_per_block=min(STATIC_SHARED, optin), shared_per_block_optin=optin,
        shared_reserved=reserved, shared_unit=own.shared_memory_unit or 1, fp32_to_fp64=ratio,
        warp_width=machine.cores.warp_width,
    )  # fmt: skip


def _capability(machine: Machine | None, architecture: int) -> int:
    """The machine's own compute capability times ten; that of the architecture where it has none."""
    if machine is None or machine.compute_capability is None:
        return architecture
    major, _, minor = machine.compute_capability.partition(".")
    return 10 * int(major) + int(minor)


def _memory(machine: Machine) -> tuple[int, int]:
    """Width of the bus [bits] and clock of the memory [kHz] by which it has the machine's bandwidth; 0: not known."""
    bus_bits, known = MEMORIES.get(machine.name, (BUS_BITS, 0))
    if not machine.peak_bandwidth:
        return bus_bits, 0
    clock_khz = min(LARGEST, int(8 * machine.peak_bandwidth / bus_bits / 2 / 1e3))
    return bus_bits, known if abs(clock_khz - known) <= NEARLY * known else clock_khz


def _global_bytes() -> int:
    return max(LEAST_MEMORY, min(MOST_MEMORY, memory() // 2))


@cache
def _table() -> dict[int, dict[str, Any]]:
    text = (resources.files("simtmm.device") / "capabilities.toml").read_text(encoding="utf-8")
    return {int(number): row for number, row in tomllib.loads(text)["capabilities"].items()}


def _usual(architecture: int) -> dict[str, Any]:
    """What GPUs of an architecture have: of the latest in the table that is not after it, else the first."""
    table = _table()
    return table[max((number for number in table if number <= architecture), default=min(table))]
