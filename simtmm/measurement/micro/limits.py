"""What limits a repetition of a micro-kernel, in cycles of a multiprocessor.

Rates that differ from one GPU to another are read from the machine's keys, whose sources its file names. What CUDA's
guide says is quoted from memory.
"""

from collections.abc import Sequence

import numpy as np

from simtmm.kernel import Array
from simtmm.machine import Machine
from simtmm.measurement.micro.kernel import WARP, Limit

BANKS, BANK_BYTES = 32, 4
LINE = 128  # bytes
BARRIER = 2  # cycles a warp: 16 threads a cycle
FIXED_LATENCY = 4  # cycles from a multiply-add to one that needs its value, since Volta
BANKS_SOURCE = "CUDA C++ Programming Guide, shared memory: 32 banks of 32 bits a cycle"
UNITS_SOURCE = "memory.pipe.access_interval: load/store units of a multiprocessor, by NVIDIA's white papers"
TAGS_SOURCE = "memory.pipe.tag_interval: lines of an access, fitted to strides"
PIPES_SOURCE = "CUDA C++ Programming Guide, throughput of native arithmetic instructions"
UNKNOWN_LATENCY = "no data sheet gives its latency: a value comes later than the pipe is free again"
STEADY = "steady state: loops and sums issue beside it"


def wavefronts(addresses: Array, size: int) -> float:
    """Passes over 32 banks of 4 bytes that an access of a warp takes, on average over warps.

    addresses: bytes, a row for each warp. size: bytes of each lane's access.
    """
    return float(np.mean([sum(map(_passes, _phases(each, size))) for each in addresses]))


def _phases(addresses: Array, size: int) -> Sequence[Array]:
    """Words of lanes that are served together: those that access 128 bytes at most, all of a warp or some of it."""
    lanes = min(WARP, BANKS * BANK_BYTES // size)
    words = addresses[:, np.newaxis] // BANK_BYTES + np.arange(-(-size // BANK_BYTES))
    return np.split(words, WARP // lanes)


def _passes(words: Array) -> int:
    return int(np.bincount(np.unique(words) % BANKS).max())


def loads_from_l1(addresses: Array, within: float | None = 1.1, why: str = STEADY) -> Limit:
    """Of loads of 4 bytes that the L1 has. addresses: as of `wavefronts`."""
    passes = wavefronts(addresses, BANK_BYTES)
    lines = float(np.mean([len(np.unique(each // LINE)) for each in addresses]))

    def cycles(machine: Machine) -> float:
        pipe = machine.memory.pipe
        return max(passes, lines * pipe.tag_interval if pipe else 0.0, _access(machine))

    return Limit(cycles, f"{BANKS_SOURCE}; {UNITS_SOURCE}; {TAGS_SOURCE}", within, why)


def loads_from_l2() -> Limit:
    """Of loads of 128 bytes that the L1 has not."""

    def cycles(machine: Machine) -> float:
        pipe = machine.memory.pipe
        return max(pipe.fill_interval if pipe else 0.0, _interval(machine))

    source = "memory.pipe.fill_interval: 64 bytes a cycle from the L2 to a multiprocessor"
    return Limit(cycles, source, None, "one block has too few loads under way to hide the L2's latency")


def shared_accesses(passes: float, within: float | None = 1.1, why: str = STEADY) -> Limit:
    """Of accesses to shared memory. passes: over its banks."""
    source = f"{BANKS_SOURCE}, every second cycle on Turing (banks.service); {UNITS_SOURCE}"
    return Limit(lambda machine: max(passes * machine.banks.service, _access(machine)), source, within, why)


def matrices(count: int, passes: float) -> Limit:
    """Of loads of `count` matrices of 8 x 8 halves. passes: over the banks, of one matrix."""
    return shared_accesses(count * passes)


def fixed_chain(work: str) -> Limit:
    """Of dependent multiply-adds, whose latency the compiler knows."""
    source = f"{PIPES_SOURCE}; traces/measured/instruction_latency.csv: {FIXED_LATENCY} cycles on Volta and Turing"
    return Limit(lambda machine: max(FIXED_LATENCY, _interval(machine, work)), source, 1.1, STEADY)


def floor_of_chain(work: str) -> Limit:
    """Of dependent instructions of a class, of whose latency no data sheet says anything."""
    return Limit(lambda machine: _interval(machine, work), PIPES_SOURCE, None, UNKNOWN_LATENCY)


def conversions() -> Limit:
    """Of one of two conversions, from float to integer and back; the way back is another pipe's since 8.6."""

    def cycles(machine: Machine) -> float:
        return (_interval(machine, "special") + _interval(machine)) / 2

    return Limit(cycles, PIPES_SOURCE, None, UNKNOWN_LATENCY)


def chase() -> Limit:
    """Of dependent loads from shared memory."""
    source = "banks.latency: from a load to its value, behind the cycle in which it issues"
    why = "what the compiler has a warp wait behind each load comes on top"
    return Limit(lambda machine: 1.0 + machine.banks.latency, source, 1.15, why)


def barriers(warps: int, within: float | None, why: str) -> Limit:
    """Of a barrier of a block."""
    source = "CUDA C++ Programming Guide, synchronization instructions: 16 threads a cycle for __syncthreads()"
    return Limit(lambda machine: float(BARRIER * warps), source, within, why)


def updates_of_l2(updates: float, lines: float) -> Limit:
    """Of an atomic of a warp on global memory. updates: of its most updated word. lines: that it lists."""

    def cycles(machine: Machine) -> float:
        memory = machine.memory
        entries = lines * memory.pipe.tag_interval if memory.pipe else 0.0
        return max(updates * (memory.atomic_service or 0.0), entries, _access(machine))

    source = f"memory.atomic_service: an update of a word in its slice of the L2; {TAGS_SOURCE}; {UNITS_SOURCE}"
    why = "atomics whose value nobody uses are not waited for, but for the last ones"
    return Limit(cycles, source, 1.2, why)


def _access(machine: Machine) -> float:
    """Cycles that an access of a warp takes the load/store units, one at least: that of its issue."""
    pipe = machine.memory.pipe
    return max(pipe.access_interval if pipe else 0.0, _interval(machine))


def _interval(machine: Machine, work: str = "") -> float:
    """Cycles that an instruction of a warp takes its pipe, or its port where the machine has no pipe for its class."""
    pipe = getattr(machine.pipes, work, None)
    issue = float(machine.issue_cycles)
    return max(float(pipe.interval), issue) if pipe else issue
