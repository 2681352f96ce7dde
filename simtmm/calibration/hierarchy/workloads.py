"""What the measurements of the hierarchy run, laid out as lowering their traces would."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simtmm.calibration.hierarchy.measured import ELEMENT_BYTES, PART_KILOBYTES, Row
from simtmm.machine import Machine
from simtmm.stalls import CLASSES
from simtmm.trace.digest import TraceDigest
from simtmm.trace.info import TraceInfo
from simtmm.trace.io import Trace
from simtmm.trace.lower import lower
from simtmm.trace.schema import EVENT, Batch, Kind, TraceLaunch, TraceSite
from simtmm.trace.specification import LoweringSpecification
from simtmm.workload import ASYNC, COMPUTE, JOIN, OF_CLASS, PASSES_SHIFT, Workload

FP64 = OF_CLASS + CLASSES.index("fp64")
ELEMENTS = (0, 4, 8, 12, 20, 16, 24, 28)  # that a thread loads in a trip, from where it stands
THREADS = 1024  # of a block of strides and of the L2
TRIPS = 6, 14  # of the two launches whose difference counts: the first loads are under way up to there
FIRST_BYTE = 1 << 20  # of what is loaded
PART_LOADS = 64  # of a thread of a block that reads a part
DOUBLE = 8  # bytes


def loads_of_l1(rows: Sequence[Row], machine: Machine) -> Workload:
    """A launch of one block for each row of strides or buffers and each number of TRIPS, in this order.

    rows: measured ones. machine: whose lanes, lines and banks count.
    """
    return lower(trace_of_strides(rows), machine)


def trace_of_strides(rows: Sequence[Row], trips: Sequence[int] = TRIPS) -> Trace:
    """The same as a trace.

    rows: measured ones. trips: of a loop over ELEMENTS; a launch for each.
    """
    launches: list[TraceLaunch] = []
    batches: list[Batch] = []
    digest = TraceDigest()
    for row in rows:
        begin, size = _first_bytes(row)
        for count in trips:
            loads = len(ELEMENTS) * count
            events = np.zeros((THREADS, loads), EVENT)
            offsets = np.tile(np.array(ELEMENTS) * size, count)
            events["value"] = FIRST_BYTE + begin[:, np.newaxis] + offsets
            events["site"] = np.tile(np.arange(len(ELEMENTS)), count)
            events["thread"] = np.arange(THREADS)[:, np.newaxis]
            events["kind"], events["bytes"] = int(Kind.ASYNC), size
            number = np.array([len(launches)], np.int32)
            batches.append(Batch(events.reshape(-1), number, np.zeros(1, np.int32), np.array([THREADS * loads])))
            digest.add(batches[-1])
            launches.append(TraceLaunch("loads", (1, 1, 1), (THREADS, 1, 1), 0, 0))
    sites = tuple(TraceSite(number, "async", "loads", 1, "") for number in range(len(ELEMENTS)))
    total = sum(len(batch.events) for batch in batches)
    digests = digest.finish(launches, (), sites)
    return Trace(TraceInfo("loads", {}, tuple(launches), (), sites, total, digests, {}), batches)


def _first_bytes(row: Row) -> tuple[npt.NDArray[np.int64], int]:
    """Of each thread, the byte that its loads count from; and the bytes of an element."""
    thread, parameter = np.arange(THREADS), int(row.of["parameter"])
    size = ELEMENT_BYTES[str(row.of["type"])]
    if row.of["kernel"] == "stride":
        return thread % 64 * parameter * size, size
    x, y = thread % parameter, thread // parameter
    return (x % 64 + (y % 32 + 1) * int(row.of["pitch"])) * size, size


def parts_of_l2(kilobytes: int, machine: Machine, waves: int) -> tuple[Workload, int]:
    """Blocks that read parts of a buffer in turns, and the bytes that they read: pairs of loads in a row,
    those of all parts side by side, as in read_parts of simtmm/validation/compiled/l2.cu.

    kilobytes: of the buffer. machine: how many blocks fill it, and what a warp is. waves: of a machine full of blocks.
    """
    width, chunk = machine.cores.warp_width, machine.chunk_bytes
    of_group = machine.active_blocks(THREADS)
    blocks = waves * of_group * machine.cores.groups
    warps = THREADS // width
    of_warp = width * DOUBLE // chunk  # lines of a load
    parts = kilobytes // PART_KILOBYTES
    pair, second = np.divmod(np.arange(PART_LOADS), 2)
    part = 2 * (np.arange(blocks) % parts)  # in steps of a block's threads
    rows = part[:, np.newaxis, np.newaxis] + 2 * parts * pair + second
    loads = rows * warps + np.arange(warps)[:, np.newaxis]
    chunks = (loads[..., np.newaxis] * of_warp + np.arange(of_warp)).ravel()
    has_pipe = bool(machine.durations.pipes and machine.durations.pipes[CLASSES.index("fp64")])
    kinds = np.array([ASYNC] * PART_LOADS + [JOIN, FP64 if has_pipe else COMPUTE], np.uint8)
    passes = _passes(machine, DOUBLE)
    amounts = np.array([of_warp + ((passes - 1) << PASSES_SHIFT)] * PART_LOADS + [0, PART_LOADS])
    workload = Workload(
        kind=np.tile(kinds, blocks * warps),
        amount=np.tile(amounts, blocks * warps),
        chunks=chunks,
        warp_operations=np.arange(blocks * warps + 1) * len(kinds),
        warp_chunks=np.arange(blocks * warps + 1) * (PART_LOADS * of_warp),
        block_warps=np.arange(blocks + 1) * warps,
        launch_blocks=np.array([0, blocks]),
        launch_limits=np.array([of_group]),
        origin=f"parts of {kilobytes} kB",
    )
    return workload, blocks * PART_KILOBYTES * 1024


def _passes(machine: Machine, element_bytes: int) -> int:
    """Passes of a warp's load of neighbouring elements over the banks of a pipe."""
    width = machine.cores.warp_width
    lanes, _, phase_bytes, *_ = LoweringSpecification.of(machine).pipe or (width, width, width * element_bytes)
    return int(-(-width // max(1, min(lanes, phase_bytes // element_bytes))))
