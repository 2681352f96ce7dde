"""Values that a fit of streams begins with, by arithmetic: from rounds of blocks and the largest bandwidths."""

from collections.abc import Sequence

import numpy as np

from simtmm.calibration.streams.occupancy_curve import StreamPoint
from simtmm.calibration.streams.part import READ, MachinePart
from simtmm.measurement.stream_operations import ELEMENT_BYTES, OPERATIONS

PORT, STORE = 2.5, 1.0  # cycles of a chunk at a group's port, loaded and stored
BUFFER = 5.0  # chunks of a partition's store buffer
WARP = 5.0  # cycles of a warp that begins, where no kernel tells


def first_guess(part: MachinePart, stream: Sequence[StreamPoint]) -> dict[str, float]:
    """Values to begin a fit with, by what they are called there [cycles, a store buffer in chunks].

    part: the part of the machine that is fitted. stream: the measured points, the lowest occupancy first. The largest
    bandwidth is treated as the memory's, and the smallest as nothing but latency.
    """
    least = stream[0]

    def round_trip(name: str) -> float:
        """Cycles from one block to the next, at the lowest occupancy."""
        threads = least.block_size * least.blocks_per_group * part.machine.cores.groups * part.scale
        return OPERATIONS[name].streams * ELEMENT_BYTES * threads / least.measured[name] * part.clock

    latency = part.machine.memory.latency
    block_launch = max(0.0, round_trip(READ) - latency)
    stored = [round_trip(name) - block_launch - (latency if OPERATIONS[name].loads else 0) for name in part.storing]
    most = {name: max(point.measured[name] for point in stream) for name in least.measured}
    mixed = [most[READ] / most[name] - 1 for name in part.storing if OPERATIONS[name].loads]
    chunk = part.machine.chunk_bytes / most[READ] * part.scale * part.clock
    # What starts and what passes a port go on at once: the slower one of them is what a further warp adds.
    adds = {name: _for_a_warp(part, name, stream) for name in least.measured}
    loads_and_stores = [adds[name] for name in part.storing if OPERATIONS[name].streams == 2]
    return {
        "chunk": chunk,
        "block_launch": block_launch,
        "warp_launch": adds.get("init", WARP) if part.tells_stores else WARP,
        "store_latency": max(1.0, float(np.median(stored))) if stored else 1.0,
        # It turns round at every other chunk, about.
        "turnaround": 2 * chunk * max(0.0, float(np.median(mixed))) if mixed else 0.0,
        "store_buffer": BUFFER if part.tells_stores else 0.0,
        "port_interval": PORT,
        "fetch_interval": adds[READ] / part.chunks if part.tells_stores else 0.0,
        "return_delay": min(loads_and_stores, default=0.0),
        "return_interval": 0.0,
        "store_interval": STORE,
    }


def _for_a_warp(part: MachinePart, name: str, stream: Sequence[StreamPoint]) -> float:
    """Cycles by which a further warp of a block makes a round longer, where a group holds one block at a time."""
    width, groups = part.machine.cores.warp_width, part.machine.cores.groups * part.scale
    alone = [point for point in stream if point.blocks_per_group == 1 and point.block_size >= width]
    warps = [point.block_size / width for point in alone]
    if len(set(warps)) < 2:
        return WARP
    moved = OPERATIONS[name].streams * ELEMENT_BYTES * groups * part.clock
    return max(0.0, float(np.polyfit(warps, [moved * each.block_size / each.measured[name] for each in alone], 1)[0]))
