"""Large files of other tools, as Markdown for docs/scaling.md: python -m tests.benchmarks.imports [MILLIONS]

Two kernels in both formats, of so many millions of events (50): a regular one, which adds two arrays in a loop, and one
whose threads each take part in a step by the toss of a coin, at addresses drawn. Each is imported to a file and lowered
for an H100, by a process of its own, so that its memory can be told. Times are those of processors.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from simtmm import import_trace, load_machine, load_trace, lower
from tests.benchmarks.scaling import clock
from tests.trace.importers.build import addresses_text, header, lanes_of
from tests.trace.importers.test_memtrace import launch

MACHINE = "h100-sxm"
WARPS, TRIPS = 8, 16
THREADS = 32 * WARPS
AT_ONCE = 64  # blocks whose lines mem_trace mixes
GLOBAL, APART = 0x7F0000000000, 1 << 30
FEW = 20_000  # events, so that all is compiled
KINDS = {
    "accelsim, regular": 6 * THREADS * TRIPS,  # events of a block: work, async, async, join, work, store
    "accelsim, irregular": 5 * THREADS * TRIPS // 2,  # work, async, join, work, store
    "mem-trace, regular": 3 * THREADS * TRIPS,
    "mem-trace, irregular": 3 * THREADS * TRIPS // 2,
}


def main(millions):
    """Print the table."""
    print("| file | events, millions | text, MB | import, s | million events a second | memory beyond a small one, MB"
          " | trace, MB | lower, s |")  # fmt: skip
    print("|---" + "|---:" * 7 + "|")
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            for name, events in (("few", FEW), ("all", int(millions * 1e6))):
                with (Path(folder) / name).open("w", encoding="utf-8") as file:
                    write(file, kind, max(2, events // KINDS[kind]))
            command = [sys.executable, "-m", "tests.benchmarks.imports", "--row", kind, folder]
            subprocess.run(command, check=True)


def row(kind, folder):
    """Print a line of the table, of files that are there."""
    machine, output = load_machine(MACHINE), folder / "t.parquet"
    import_trace(folder / "few", output=output)
    lower(load_trace(output), machine)
    before = peak()
    with clock() as importing:
        events = import_trace(folder / "all", output=output).info.events
    more = peak() - before
    with clock() as lowering:
        lower(load_trace(output), machine)
    text, size = ((folder / name).stat().st_size / 1e6 for name in ("all", "t.parquet"))
    print(
        f"| {kind} | {events / 1e6:.1f} | {text:,.0f} | {importing.cpu:.1f} | {events / importing.cpu / 1e6:.1f} | "
        f"{more:.0f} | {size:,.3f} | {lowering.cpu:.2f} |",
        flush=True,
    )


def peak():
    """The most memory that this process has had [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def write(file, kind, blocks):
    """A file of another tool."""
    draw = np.random.default_rng(1)
    tool, _, regularity = kind.partition(", ")
    if tool == "accelsim":
        file.write(header(grid=(blocks, 1, 1), block=(THREADS, 1, 1)))
        for block in range(blocks):
            file.write(f"\n#BEGIN_TB\n\nthread block = {block},0,0\n")
            for warp in range(WARPS):
                lines = [line for trip in range(TRIPS) for line in instructions(draw, regularity, block, warp, trip)]
                file.write("\n".join([f"\nwarp = {warp}\ninsts = {len(lines)}", *lines]))
            file.write("\n#END_TB\n")
        return
    file.write(launch(grid=(blocks, 1, 1), block=(THREADS, 1, 1)))
    for first in range(0, blocks, AT_ONCE):
        for trip in range(TRIPS):
            for warp in range(WARPS):
                for block in range(first, min(first + AT_ONCE, blocks)):
                    file.writelines(accesses(draw, regularity, block, warp, trip))


def instructions(draw, regularity, block, warp, trip):
    """Lines of a warp in Accel-Sim's form."""
    if regularity == "regular":
        at = place(block, warp, trip)
        loads = [
            f"00{2 + array}0 ffffffff 1 R{4 - array} LDG.E 1 R2 4 1 0x{at + array * APART:x} 4 0" for array in (0, 1)
        ]
        text, mask = f"1 0x{at + 2 * APART:x} 4", "ffffffff"
    else:
        lanes = int(draw.integers(1, 1 << 32))
        read, written = (GLOBAL + 4 * draw.integers(0, 1 << 24, (2, len(lanes_of(lanes))))).tolist()
        text, mask = addresses_text(written, 0), f"{lanes:08x}"
        loads = [f"0020 {mask} 1 R4 LDG.E 1 R2 4 {addresses_text(read, 2)} 0"]
    return [
        f"0010 {mask} 1 R6 IMAD 2 R6 R3 0 0",
        *loads,
        f"0040 {mask} 1 R0 FADD 2 R4 R3 0 0",
        f"0050 {mask} 0 STG.E 2 R2 R0 4 {text} 0",
    ]


def accesses(draw, regularity, block, warp, trip):
    """Lines of a warp in mem_trace's form."""
    lane = np.arange(32)
    taking_part = np.ones(32, np.int64) if regularity == "regular" else draw.integers(0, 2, 32)
    for array, opcode in enumerate(("LDG.E", "LDG.E", "STG.E")):
        regular = place(block, warp, trip) + 4 * lane
        at = array * APART + (regular if regularity == "regular" else GLOBAL + 4 * draw.integers(0, 1 << 24, 32))
        listed = " ".join(["0x%016x"] * 32) % tuple((at * taking_part).tolist())
        where = f"MEMTRACE: CTX 0x000055f6aef96ca0 - grid_launch_id 0 - CTA {block},0,0 - warp {warp}"
        yield f"{where} - {opcode} - {listed} \n"


def place(block, warp, trip):
    """Where the words of a warp begin."""
    return GLOBAL + 128 * (block * WARPS + warp) + trip * (1 << 22)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--row"]:
        row(sys.argv[2], Path(sys.argv[3]))
    else:
        main(float(sys.argv[1]) if sys.argv[1:] else 50)
