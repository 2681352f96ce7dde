"""The pointer chase compared with the read kernel at low occupancy, where a round of blocks is mostly latency.

A round there takes L, the start of a block and of its warps. So it is never shorter than the chase's L, unless the
chase ran with a clock that was idle; and the rest of it without the starts is L once more, as the streams see it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simtmm.calibration.streams.occupancy_curve import StreamPoint
from simtmm.calibration.values import Value
from simtmm.errors import StudyError
from simtmm.machine import Machine
from simtmm.measurement.stream_operations import ELEMENT_BYTES, OPERATIONS

READ = "read"
LOWEST = 3  # points of lowest occupancy whose median counts: one may be printed with two digits
ROUNDING = 1.03  # of a round that a table prints with two digits
# Chase over read, or read over chase, that is told. With the starts of the other GPUs of a family, they are within 1.10
# on the six GPUs of traces/measured/stream_occupancy.csv
APART = 1.2
CHASE, FROM_READ = LATENCY_FROM = ("chase", "read")


@dataclass(frozen=True)
class ReadRound:
    """What the read kernel at low occupancy tells of L.

    cycles: of a round of blocks, from one block to the next in its place. occupancy: of that point, from 0 to 1.
    latency: the rest of it without the starts of a block and its warps, None where these are not known [cycles].
    """

    cycles: float
    occupancy: float
    latency: float | None


def read_round(machine: Machine, stream: Sequence[StreamPoint], starts: Machine | None) -> ReadRound:
    """The median of the points of lowest occupancy.

    machine: groups, warps and clock. starts: a machine that blocks and warps start as on; None where none is known.
    Raises StudyError where there is no clock or the read kernel was not measured.
    """
    if machine.clock_hz is None:
        raise StudyError("clock_hz: unknown: the latency file has no column clock_mhz, and no machine is given")
    lowest = sorted(stream, key=lambda point: point.occupancy)[:LOWEST]
    found = []
    for point in lowest:
        if READ not in point.measured:
            raise StudyError(f"operation {READ!r}: was not measured, but the calibration starts from it")
        threads = point.block_size * point.blocks_per_group
        moved = OPERATIONS[READ].streams * ELEMENT_BYTES * threads * machine.cores.groups
        cycles = moved / point.measured[READ] * machine.clock_hz
        warps = point.blocks_per_group * -(-point.block_size // machine.cores.warp_width)
        found.append((cycles, point.occupancy, warps))
    cycles, occupancy, _ = sorted(found)[len(found) // 2]
    if starts is None or starts.scheduling.block_launch == 0:
        return ReadRound(cycles, occupancy, None)
    launch = starts.scheduling
    left = [each - launch.block_launch - warps * launch.warp_launch for each, _, warps in found]
    return ReadRound(cycles, occupancy, float(np.median(left)))


def checked_latency(latency: float, read: ReadRound) -> str | None:
    """What the reader must know of a chase's L beside a round of reading; None where they go together.

    Raises StudyError where L is longer than a whole round: the chase saw another memory than the streams.
    """
    if latency > ROUNDING * read.cycles:
        raise StudyError(
            f"latency: the chase's L is {latency:.4g} cycles, but the read kernel at {100 * read.occupancy:.2g} % "
            f"occupancy takes {read.cycles:.4g} cycles a round, starts of blocks included: was a clock idle? "
            "--latency-from read takes L from the read kernel"
        )
    if read.latency is None or 1 / APART <= latency / max(1.0, read.latency) <= APART:
        return None
    return (
        f"the chase's L is {latency:.4g} cycles, the read kernel's about {read.latency:.4g} (a round at "
        f"{100 * read.occupancy:.2g} % occupancy takes {read.cycles:.4g}, less starts of blocks and warps as the "
        "machine has them): --latency-from read takes the latter"
    )


def latency_of_read(read: ReadRound, called: str) -> Value:
    """L from the read kernel. Raises StudyError where the starts of blocks are not known, or leave nothing."""
    if read.latency is None:
        raise StudyError(
            "latency from read: a round of blocks is L and the start of a block: --machine must name a machine with "
            "scheduling.block_launch above 0, as those of a family are"
        )
    if read.latency < 1:
        raise StudyError(
            f"latency from read: a round takes {read.cycles:.4g} cycles, and the starts of its block and warps alone, "
            "as the machine has them, take as long: scheduling.block_launch must be below it"
        )
    note = (
        f"read kernel, a round at {100 * read.occupancy:.2g} % occupancy ({read.cycles:.4g} cycles) less starts of "
        "blocks and warps as the machine had them, so as sure as these"
    )
    return Value("memory.latency", round(read.latency, 1), "cycles", called, note, False)
