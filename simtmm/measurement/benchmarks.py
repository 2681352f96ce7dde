"""Benchmarks for calibration: what is measured on a GPU, and the tables that come of it.

chase-SIZEkib               a pointer chase through a buffer of so many KiB
stream-KERNEL-THREADSxN     a streaming kernel in blocks of so many threads, N of them a core group at once
launch-one, launch-many     a launch of a thread; a program of many small launches
shared-N, atomic-N          N dependent accesses to shared memory; N updates of one counter
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simtmm.files import written_whole
from simtmm.measurement.stream_operations import ELEMENT_BYTES, OPERATIONS
from simtmm.result import Measurement

LINE = 128  # bytes: elements of a pointer chase lie that far apart
CHASE_KIB = tuple(size for power in range(2, 20) for size in (1 << power, 3 << power >> 1))  # 4 KiB to 768 MiB
CHASE_STEPS = 20_000  # at least
# At least through a buffer that an L1 may hold: an L1 is empty at first, so the first round is another
CHASE_ROUNDS = 32
CHASE_SMALL = 4096  # elements of such a buffer
STREAMS = ("read", "triad", "scale", "init", "stencil3", "stencil5")
STREAM_ELEMENTS = 1 << 24  # 128 MiB an array: more than any cache
STREAM_BLOCKS = ((32, 1), (64, 1), (128, 1), (256, 1), (512, 1), (1024, 1), (1024, 2))  # threads, blocks a core group
RESERVED = 1024  # bytes of shared memory that a block takes for itself
SHARED_STEPS = 20_000, 40_000
UPDATES = 1 << 18, 1 << 19


@dataclass(frozen=True)
class Benchmark:
    """A kernel to be timed. family: those that grow in this order. cold: whether caches are emptied before."""

    name: str
    family: str
    kernel: str
    parameters: Mapping[str, Any]
    cold: bool = True


def benchmarks(shared_memory: int) -> Iterator[Benchmark]:
    """What there is to measure, the most needed first. shared_memory: bytes that a block may claim."""
    yield Benchmark("launch-one", "launch", "vector-add", {"n": 1})
    yield Benchmark("launch-many", "launch", "list-ranking-wyllie", {"n": 64})
    for size in CHASE_KIB:
        n = size * 1024 // LINE
        steps = max(CHASE_STEPS, CHASE_ROUNDS * n) if n <= CHASE_SMALL else CHASE_STEPS
        parameters = {"n": n, "stride": LINE // 4, "steps": steps}
        yield Benchmark(f"chase-{size:06d}kib", f"chase {size}", "pointer-chase", parameters, cold=False)
    for operation in STREAMS:
        for threads, blocks in STREAM_BLOCKS:
            claimed = shared_memory // blocks - (RESERVED if blocks > 1 else 0)
            streaming = {"operation": operation, "n": STREAM_ELEMENTS, "threads": threads, "shared_memory": claimed}
            name = f"stream-{operation}-{threads:04d}x{blocks}"
            yield Benchmark(name, f"stream {operation} {threads} {blocks}", "stream", streaming)
    for steps in SHARED_STEPS:
        yield Benchmark(f"shared-{steps}", "shared", "shared-chase", {"steps": steps}, cold=False)
    for updates in UPDATES:
        yield Benchmark(f"atomic-{updates}", "atomic", "atomic-update", {"n": updates}, cold=False)


def latency_table(measurements: Mapping[str, Measurement], gpu: str) -> list[str]:
    """Lines of CSV, as `latency_levels.load_latency` reads them; none where no chase was measured.

    measurements: by the names of their benchmarks.
    gpu: what its column gpu has.
    """
    lines = ["gpu,clock_mhz,buffer_kib,median_cycles"]
    for name, each in sorted(measurements.items()):
        if name.startswith("chase-"):
            clock, p = each.device["clock_hz"], each.parameters
            cycles = each.seconds * clock / p["steps"]
            lines.append(f"{gpu},{clock / 1e6:.1f},{p['n'] * p['stride'] * 4 / 1024:g},{cycles:.2f}")
    return lines if len(lines) > 1 else []


def stream_table(measurements: Mapping[str, Measurement], gpu: str) -> list[str]:
    """Lines of CSV, as `occupancy_curve.load_stream` reads them, of the kernels that were measured at all points.

    gpu: what its column gpu has.
    """
    rates: dict[tuple[int, int], dict[str, float]] = {}
    most, groups = 0, 0
    for name, each in sorted(measurements.items()):
        if not name.startswith("stream-"):
            continue
        p = each.parameters
        moved = OPERATIONS[p["operation"]].streams * ELEMENT_BYTES * p["n"]
        point = p["threads"], each.launches[0].blocks_per_core_group
        rates.setdefault(point, {})[p["operation"]] = moved / each.seconds / 1e9
        most = each.device.get("threads_per_core_group") or 0
        groups = each.device.get("core_groups") or 0
    whole = {point: found for point, found in rates.items() if point[1] > 0}
    names = [name for name in OPERATIONS if whole and all(name in found for found in whole.values())]
    if not names:
        return []
    most = most or max(threads * blocks for threads, blocks in whole)
    known = ["threads_column"] if groups else []
    columns = ["gpu", "block_size", *known, "blocks_per_sm", "occupancy_pct", *(f"{name}_GBs" for name in names)]
    lines = [",".join(columns)]
    for (threads, blocks), found in sorted(whole.items(), key=lambda entry: entry[0][0] * entry[0][1]):
        of_all = [str(groups * threads * blocks)] if groups else []
        share = f"{100 * threads * blocks / most:.1f}"
        rounded = [f"{found[name]:.1f}" for name in names]
        lines.append(",".join([gpu, str(threads), *of_all, str(blocks), share, *rounded]))
    return lines


def write_lines(path: Path, lines: list[str]) -> None:
    """A text file of these lines, whole or not at all.

    lines: without their ends.

    Raises OutputError.
    """
    with written_whole(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
