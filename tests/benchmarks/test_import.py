"""How fast other tools' traces are imported, in instruction lines a second. Counts are pinned, as in test_rates.py."""

import lzma

import pytest

from simtmm.trace.importers import import_trace
from tests.benchmarks import imports
from tests.benchmarks.test_rates import rate
from tests.trace.importers.build import line, load, store, traceg
from tests.trace.importers.test_memtrace import access, launch

GLOBAL = 0x7F0000000000
BLOCKS, FEW, WARPS = 1200, 60, 8


def vector_add(blocks):
    """The text of c = a + b as a compiler puts it: 17 instructions a warp, addresses in all three modes."""
    warps = {}
    for block in range(blocks):
        warps[(block, 0, 0)] = {}
        for warp in range(WARPS):
            at = GLOBAL + 128 * (block * WARPS + warp)
            before = [line("IMAD", pc=16 * index, to=["R6"], of=["R6", "R3"]) for index in range(10)]
            warps[(block, 0, 0)][warp] = [
                *before,
                load(at, "R4", pc=160, mode=1),
                load(at + 2**24, "R3", pc=176, mode=2),
                line("IMAD.WIDE", pc=192, to=["R6"], of=["R6", "R7"]),
                line("FADD", pc=208, to=["R0"], of=["R4", "R3"]),
                line("FADD", pc=224, to=["R9"], of=["R255", "R0"]),
                store(at + 2**25, "R9", pc=240, mode=0),
                line("EXIT", pc=256),
            ]
    return traceg(warps, block=(32 * WARPS, 1, 1))


LINES = 17 * WARPS  # a block
EVENTS = 8 * 32 * WARPS  # a block; of each thread: work, async, async, work, join, work, store, work


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "xz"])
def test_accelsim(benchmark, sized, tmp_path, packed):
    source, blocks = tmp_path / "kernel.traceg", sized(BLOCKS, FEW)
    text = vector_add(blocks).encode()
    source.write_bytes(lzma.compress(text, preset=1) if packed else text)
    import_trace(source)  # compiled
    trace = benchmark.pedantic(import_trace, (source,), {"output": tmp_path / "t.parquet"}, rounds=3)
    assert trace.info.events == EVENTS * blocks
    rate(benchmark, "instruction lines", LINES * blocks)


def test_mem_trace(benchmark, sized, tmp_path):
    source, blocks = tmp_path / "mem_trace.txt", sized(BLOCKS, FEW)
    lines = [
        access(opcode, GLOBAL + 128 * warp + offset, block=(block, 0, 0), warp=warp)
        for warp in range(WARPS)
        for block in range(blocks)  # so that blocks are mixed
        for opcode, offset in (("LDG.E", 0), ("LDG.E", 2**24), ("STG.E", 2**25))
    ]
    source.write_text(launch(grid=(blocks, 1, 1), block=(32 * WARPS, 1, 1)) + "".join(lines), encoding="utf-8")
    import_trace(source)  # compiled
    trace = benchmark.pedantic(import_trace, (source,), {"output": tmp_path / "t.parquet"}, rounds=3)
    assert trace.info.events == 3 * 32 * blocks * WARPS
    rate(benchmark, "instruction lines", 3 * blocks * WARPS)


@pytest.mark.parametrize("kind", imports.KINDS)
def test_the_files_of_the_table_have_the_events_that_it_counts_on(tmp_path, kind):
    with (tmp_path / "two").open("w", encoding="utf-8") as file:
        imports.write(file, kind, 2)
    events = import_trace(tmp_path / "two").info.events
    assert events == pytest.approx(2 * imports.KINDS[kind], rel=0 if "irregular" not in kind else 0.1)  # tossed coins
