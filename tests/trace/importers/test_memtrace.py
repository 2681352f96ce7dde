"""NVBit's mem_trace: lines of blocks and warps in any order become a trace in order."""

import lzma
import random

import pytest

from simtmm import load_machine, lower
from simtmm.errors import TraceError
from simtmm.machine.addresses import LOCAL_BASE
from simtmm.trace.importers import import_trace
from simtmm.trace.importers.opcodes import width_of
from simtmm.trace.schema import KINDS
from tests.trace.importers.build import FULL, lanes_of

GLOBAL = 0x7F0000000000
BANNER = "------------- NVBit (NVidia Binary Instrumentation Tool v1.5.5) Loaded --------------\n"
KINDS_OF = {
    "LDG": "load",
    "STG": "store",
    "RED": "atomic",
    "ATOMG": "atomic",
    "LDS": "shared_load",
    "STS": "shared_store",
    "ATOMS": "shared_atomic",
}
OPCODES = ["LDG.E", "LDG.E.64", "STG.E.128", "RED.E.ADD", "ATOMG.E.ADD.U64", "LDS.U8", "STS", "ATOMS.ADD"]


def launch(number=0, grid=(1, 1, 1), block=(32, 1, 1), nregs=22, shmem=0, name="vecAdd(double*, int - 1)"):
    shape = "grid size {},{},{} - block size {},{},{}".format(*grid, *block)
    return (
        f"MEMTRACE: CTX 0x000055f6aef96ca0 - LAUNCH - Kernel pc 0x00007fdb44f89a00 - Kernel name {name} - "
        f"grid launch id {number} - {shape} - nregs {nregs} - shmem {shmem} - cuda stream id 0\n"
    )


def access(opcode, address, mask=FULL, block=(0, 0, 0), warp=0, number=0, stride=4):
    listed = " ".join(f"0x{(address + stride * lane) * (mask >> lane & 1):016x}" for lane in range(32))
    where = "CTA {},{},{} - warp {}".format(*block, warp)
    return f"MEMTRACE: CTX 0x000055f6aef96ca0 - grid_launch_id {number} - {where} - {opcode} - {listed} \n"


def rows(trace):
    return [(row["launch"], row["block"], row["thread"], KINDS[row["kind"]], row["value"], row["bytes"])
            for row in trace.to_table().to_pylist()]  # fmt: skip


@pytest.fixture
def imported(tmp_path):
    def make(text, name="mem_trace.txt", **options):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return import_trace(path, **options)

    return make


@pytest.fixture
def refused(tmp_path):
    """What is said of a file's text; nothing may be written for it."""

    def call(text):
        path = tmp_path / "mem_trace.txt"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(TraceError) as caught:
            import_trace(path, "mem-trace", output=tmp_path / "t.parquet")
        assert sorted(tmp_path.iterdir()) == [path]
        assert str(caught.value).startswith(f"{path}: ")
        return str(caught.value).removeprefix(f"{path}: ")

    return call


def drawn(seed, lines=300):
    """A random text, and the rows that come of it, found thread by thread."""
    draw = random.Random(seed)
    shapes = [((2, 3, 1), (40, 1, 1)), ((5, 1, 1), (8, 8, 1))]
    texts, expected = [], []
    for _ in range(lines):
        number = draw.randrange(2)
        grid, shape = shapes[number]
        block = tuple(draw.randrange(size) for size in grid)
        warp = draw.randrange(2)
        threads = shape[0] * shape[1]
        mask = draw.choice([FULL, draw.getrandbits(32), 1]) & ((1 << min(32, threads - 32 * warp)) - 1)
        opcode = draw.choice(
            ["LDG.E", "LDG.E.64", "STG.E.128", "RED.E.ADD", "ATOMG.E.ADD.U64", "LDS.U8", "STS", "ATOMS.ADD"]
        )
        kind = KINDS_OF[opcode.split(".")[0]]
        address = (64 if kind.startswith("shared") else GLOBAL) + 16 * draw.randrange(1000)
        texts.append(access(opcode, address, mask, block, warp, number, 16))
        flat = block[0] + grid[0] * (block[1] + grid[1] * block[2])
        expected += [
            (number, flat, 32 * warp + lane, kind, address + 16 * lane, width_of(opcode)) for lane in lanes_of(mask)
        ]
    head = BANNER + "".join(launch(number, *shape) for number, shape in enumerate(shapes))
    return head + "the program's own words\n".join(texts), sorted(expected, key=lambda row: row[:3])


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("records", [1, 7, 1 << 14])
def test_events_are_those_of_a_second_reading(imported, monkeypatch, seed, records):
    monkeypatch.setattr("simtmm.trace.importers.memtrace_records.RECORDS", records)
    text, expected = drawn(seed)
    assert rows(imported(text)) == expected


@pytest.mark.parametrize(("seed", "records", "long"), [(0, 7, 9), (1, 3, 40), (2, 1, 1), (3, 5, 20)])
def test_a_long_block_that_is_read_in_pieces_is_the_same(imported, monkeypatch, seed, records, long):
    """Digests cover sites as well, which say how far a stretch lies from where all lanes are together."""
    text, expected = drawn(seed)
    text = text.replace("- warp 1 -", "- warp 9 -") if seed == 1 else text  # places of the multiprocessor
    whole = imported(text)
    monkeypatch.setattr("simtmm.trace.importers.memtrace_records.RECORDS", records)
    monkeypatch.setattr("simtmm.trace.importers.memtrace_order.LONG_RECORDS", long)
    trace = imported(text)
    assert trace.info.digest == whole.info.digest
    assert trace.info.sites == whole.info.sites
    assert trace.info.provenance["statistics"] == whole.info.provenance["statistics"]
    assert seed == 1 or rows(trace) == expected


def test_blocks_are_counted_in_parts_that_are_put_together(imported, monkeypatch):
    monkeypatch.setattr("simtmm.trace.importers.memtrace_records.RECORDS", 3)
    monkeypatch.setattr("simtmm.trace.importers.memtrace_order._MOST_APART", 1)
    text, expected = drawn(5)
    assert rows(imported(text)) == expected


def test_launches_carry_their_shape_and_needs(imported):
    text = launch(7, (2, 1, 1), (64, 1, 1), 40, 1024, "f") + launch(9, name="g()") + access("LDG.E", GLOBAL, number=9)
    launches = imported(text).info.launches
    assert [(entry.kernel, entry.grid, entry.block, entry.registers_per_thread, entry.shared_memory_bytes)
            for entry in launches] == [
        ("f", (2, 1, 1), (64, 1, 1), 40, 1024), ("g()", (1, 1, 1), (32, 1, 1), 22, 0),
    ]  # fmt: skip


def test_a_launch_without_accesses_is_a_trace(imported):
    assert imported(launch()).info.events == 0


def test_a_packed_file_gives_the_same_trace(imported, tmp_path):
    text, _ = drawn(1)
    (tmp_path / "packed.xz").write_bytes(lzma.compress(text.encode()))
    assert import_trace(tmp_path / "packed.xz").info.digest == imported(text).info.digest


def test_lowered_for_32_lanes_a_warp_does_what_its_lines_say(imported):
    draw = random.Random(3)
    masks = [draw.choice([FULL, 0xFFFF, 0xFF, 1 << draw.randrange(32)]) for _ in range(200)]
    opcodes = [draw.choice(["LDG.E", "STG.E", "LDG.E.64"]) for _ in masks]
    lines = [
        access(opcode, GLOBAL + 4096 * turn, mask)
        for turn, (opcode, mask) in enumerate(zip(opcodes, masks, strict=True))
    ]
    machine = load_machine("ideal").replace({"cores.warp_width": 32})
    operations = list(lower(imported(launch() + "".join(lines)), machine).warp(0))
    assert [(name, chunks[0] // 32 * 32) for name, chunks in operations] == [
        ("load" if opcode.startswith("LDG") else "store", (GLOBAL + 4096 * turn) // 128)
        for turn, opcode in enumerate(opcodes)
    ]


def test_a_stretch_apart_that_is_longer_than_sites_go_is_still_read(imported, monkeypatch):
    monkeypatch.setattr("simtmm.trace.importers.memtrace_accesses.MOST_SITES", 4)
    lines = [access("LDG.E", GLOBAL + 4096 * turn, 1) for turn in range(6)] + [access("LDG.E", GLOBAL, 2)] * 6
    trace = imported(launch() + "".join(lines))
    assert [row[4] for row in rows(trace)] == [GLOBAL + 4096 * turn for turn in range(6)] + [GLOBAL + 4] * 6
    assert max(site.site for site in trace.info.sites) <= 3


def test_places_of_warps_on_the_multiprocessor_become_warps_of_the_block(imported):
    lines = [
        access("LDG.E", GLOBAL, mask=0xFF, warp=9),
        access("LDG.E", GLOBAL, warp=8),
        access("LDG.E", GLOBAL, mask=0xF, warp=1, block=(1, 0, 0)),  # a warp that a block of 40 threads has
    ]
    found = rows(imported(launch(block=(40, 1, 1), grid=(2, 1, 1)) + "".join(lines)))
    assert [row[2] for row in found if row[1] == 0] == list(range(40))
    assert [row[2] for row in found if row[1] == 1] == [32, 33, 34, 35]


@pytest.mark.parametrize(
    ("opcode", "width"),
    [
        ("LDG.E", 4),
        ("LDG.E.U8", 1),
        ("LDG.E.S16.SYS", 2),
        ("LDG.E.64.CONSTANT", 8),
        ("LDG.E.96", 12),
        ("LDS.32", 4),
        ("STG.E.128", 16),
        ("LDS.U.128", 16),
        ("RED.E.ADD.F64.RN", 8),
        ("LDSM.16.M88.4", 16),
        ("LDG.E.LTC128B", 4),
    ],
)
def test_the_width_is_the_opcodes(opcode, width):
    assert width_of(opcode) == width


def test_local_memory_is_a_place_for_each_thread(imported):
    trace = imported(launch(grid=(2, 1, 1)) + access("LDL", 0xFFFC80, block=(1, 0, 0), stride=0))
    own = 0xFFFC80 % 2**19
    assert [row[4] for row in rows(trace)] == [LOCAL_BASE + own * 64 + 4 * (32 + lane) for lane in range(32)]


def test_sites_have_opcodes_and_no_lines(imported):
    trace = imported(launch() + access("LDG.E", GLOBAL) + access("STG.E.64", GLOBAL + 4096))
    sites = trace.info.sites
    assert {(site.kind, site.source) for site in sites if site.site} >= {("load", "LDG.E"), ("store", "STG.E.64")}
    assert {(site.file, site.line) for site in sites} == {("", 0)}


def test_an_unknown_opcode_is_named_once_and_counts_as_compute(imported, caplog):
    trace = imported(launch() + access("FROB.X", GLOBAL) + access("FROB.Y", GLOBAL))
    assert {row[3:] for row in rows(trace)} == {("work", 1, 0)}
    (record,) = caplog.records
    assert "opcode FROB is unknown" in record.getMessage()


GOOD = launch() + access("LDG.E", GLOBAL)
DAMAGES = {
    "launch": ("grid launch id 0", "grid launch 0", "line 2: expected '... - LAUNCH - Kernel pc 0x..."),
    "grid": ("grid size 1,1,1", "grid size 1,0,1", "line 2: expected a grid size of at least 1,1,1"),
    "block": (
        "block size 32,1,1",
        "block size 32,64,1",
        "line 2: expected a block size of at least 1,1,1 and at most 1,024",
    ),
    "unknown launch": (
        "grid_launch_id 0",
        "grid_launch_id 3",
        "line 3: expected a launch id that a LAUNCH line has named",
    ),
    "no launch id": (
        "- grid_launch_id 0",
        "- launch 0",
        "line 3: expected 'MEMTRACE: CTX 0x... - grid",
    ),
    "context": (
        "CTX 0x000055f6aef96ca0 - grid_",
        "CTX zero - grid_",
        "line 3: expected 'MEMTRACE: CTX 0x... - grid",
    ),
    "CTA": ("CTA 0,0,0", "CTA 0,0", "line 3: expected a thread block within the grid, x,y,z, not '0,0'"),
    "CTA outside": ("CTA 0,0,0", "CTA 0,1,0", "line 3: expected a thread block within the grid, x,y,z, not '0,1,0'"),
    "warp": ("warp 0", "warp -1", "line 3: expected a warp from 0 to 2^31 - 1, not '-1'"),
    "opcode": ("LDG.E", "0x7", "line 3: expected an opcode, not '0x7'"),
    "address": (
        f"0x{GLOBAL:016x}",
        "zero",
        "line 3: expected an address below 2^60, hexadecimal, for each of 32 lanes, ",
    ),
    "few addresses": (
        f"0x{GLOBAL:016x}",
        "",
        "line 3: expected an address below 2^60, hexadecimal, for each of 32 lanes",
    ),
    "more words": (f"0x{GLOBAL:016x}", f"0x{GLOBAL:016x} 0x0", "line 3: expected the end of the line, not '0x00007f"),
    "lanes": (
        "block size 32,1,1",
        "block size 31,1,1",
        "line 3: expected zero for lanes outside the thread block, which has 31",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_line_that_is_none_is_refused(refused, name):
    old, new, message = DAMAGES[name]
    assert GOOD.count(old) == 1
    found = refused("hello\n" + GOOD.replace(old, new))
    assert found.startswith(message), found


def test_a_cut_anywhere_in_an_access_is_refused(refused):
    for end in range(GOOD.index("MEMTRACE: CTX", 1) + len("MEMTRACE:"), len(GOOD) - 1):
        refused(GOOD[:end])


def test_a_file_without_a_launch_is_refused(refused):
    assert refused("hello\n").startswith("has no line 'MEMTRACE: CTX 0x... - LAUNCH - ...'")


def test_a_streamed_trace_is_that_in_memory(imported, tmp_path):
    text, expected = drawn(2)
    assert rows(imported(text, output=tmp_path / "t.parquet")) == expected
