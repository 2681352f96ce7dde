"""Accel-Sim's kernel traces: the importer against a second reading in plain Python, and rule by rule."""

import itertools
import lzma
import re
from pathlib import Path

import numpy as np
import pytest

from simtmm import load_machine, load_trace, lower
from simtmm.errors import TraceError
from simtmm.machine.addresses import LOCAL_BASE as LOCAL_MEMORY
from simtmm.trace.importers import import_trace
from simtmm.trace.importers import warps as table
from simtmm.trace.importers.blocks import Blocks
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.schema import KINDS
from tests.trace.importers import plain
from tests.trace.importers.build import LOCAL_BASE, SHARED_BASE, drawn, line, load, store, traceg

REAL = Path(__file__).parents[4] / "shared" / "data" / "traceg"
GLOBAL = 0x7F0000000000


def events(trace):
    """Rows (launch, block, thread, kind, value, bytes, pc) of a trace, neighbouring work of a thread in one."""
    pcs = {site.site: re.match(r"/\*([0-9a-f]+)\*/ ", site.source) for site in trace.info.sites}
    rows = []
    for row in trace.to_table().to_pylist():
        kind, value = KINDS[row["kind"]], row["value"]
        if kind.startswith("shared_"):
            assert value >> 32 == 0  # the site at which shared memory is declared
            value &= 2**32 - 1
        where = (row["launch"], row["block"], row["thread"])
        if kind == "work" and rows and rows[-1][:4] == [*where, kind]:
            rows[-1][4] += value
        else:
            rows.append([*where, kind, value, row["bytes"], int(pcs[row["site"]][1], 16)])
    return [tuple(row) for row in rows]


def expected(*texts):
    return [(launch, *row) for launch, text in enumerate(texts) for row in plain.events(text)]


@pytest.fixture
def imported(tmp_path):
    """The trace that a text is."""

    def make(text, name="kernel.traceg", **options):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return import_trace(path, **options)

    return make


@pytest.fixture
def thread_events(imported):
    """The events of one thread of a warp's lines, short: (kind, value), with an access's site left out."""

    def make(*lines, thread=0, **fields):
        rows = events(imported(traceg([list(lines)], **fields)))
        return [(row[3], row[4]) for row in rows if row[2] == thread]

    return make


def warp_operations(trace, width=32, machine="ideal"):
    """The operations of the first warp."""
    return list(lower(trace, load_machine(machine).replace({"cores.warp_width": width})).warp(0))


# The importer against the second reading


@pytest.mark.parametrize("version", [2, 3, 4, 5])
@pytest.mark.parametrize("seed", range(12))
def test_events_are_those_of_a_second_reading(imported, version, seed):
    text = drawn(f"{version} {seed}", version, lineinfo=[None, False, True][seed % 3])
    assert events(imported(text)) == expected(text)


@pytest.mark.parametrize(
    "name", ["gpucachesim_matrixmul-32-32", "gpucachesim_vectoradd-100-32", "mgpusim_simple-trace-example"]
)
def test_real_files_are_those_of_a_second_reading(name):
    folder = REAL / name
    if not folder.is_dir():
        pytest.skip("the real files lie beside the project, where they are there at all")
    trace = import_trace(folder / "kernelslist.g")
    text = (folder / "kernel-1.traceg").read_text(encoding="utf-8")
    if name.startswith("mgpusim"):  # 32,498 lines: what comes of the first and the last blocks, and how much of all
        starts = [match.start() for match in re.finditer("#BEGIN_TB", text)]
        some = text[: starts[4]] + text[starts[-4] :]
        kept = {0, 1, 2, 3, 192, 193, 194, 195}
        assert [row for row in events(trace) if row[1] in kept] == expected(some)
        threads = 50_000  # of the 50,176 that there are, those with an element of their own
        kinds = np.concatenate([batch.events["kind"] for batch in trace.batches()])
        counted = dict(zip(*np.unique(kinds, return_counts=True), strict=True))
        assert [counted[KINDS.index(kind)] for kind in ("async", "join", "store")] == [2 * threads, threads, threads]
    else:
        assert events(trace) == expected(text)
    assert trace.info.kernel == name


def test_a_real_product_overlaps_its_loads():
    folder = REAL / "gpucachesim_matrixmul-32-32"
    if not folder.is_dir():
        pytest.skip("the real files lie beside the project, where they are there at all")
    trace = import_trace(folder / "kernelslist.g")
    launch = trace.info.launches[0]
    assert (launch.block, launch.registers_per_thread, launch.shared_memory_bytes) == ((32, 32, 1), 30, 8192)
    assert [(array.name.split()[0], array.base, array.bytes) for array in trace.info.arrays] == [
        ("copied", 0x7FB02D700000, 4096), ("copied", 0x7FB02D701000, 4096), ("touched", 0x7FB02D702000, 4096),
    ]  # fmt: skip
    operations = [operation[:1] if operation[0] != "join" else operation for operation in warp_operations(trace)]
    # R25 is stored first, while the load of R22 is still in flight.
    assert operations[:10] == [
        ["compute"], ["async"], ["compute"], ["async"], ["compute"], ["join", 1], ["shared"], ["join", 0], ["shared"],
        ["barrier"],
    ]  # fmt: skip


@pytest.mark.parametrize("size", [1, 7, 100, 1 << 12])
def test_blocks_of_text_of_any_size_read_alike(imported, monkeypatch, size):
    text = drawn("sizes", 4, length=20)
    monkeypatch.setattr("simtmm.trace.importers.reading.BLOCK_BYTES", size)
    assert events(imported(text)) == expected(text)


def test_events_are_handed_on_block_by_block(imported, monkeypatch):
    text = drawn("batches", 5, blocks=9, length=20)
    whole = imported(text)
    sizes = []
    add = TraceRecorder.add
    monkeypatch.setattr(
        TraceRecorder, "add", lambda self, batch, all_of: (sizes.append(len(batch.ends)), add(self, batch, all_of))
    )
    monkeypatch.setattr(
        "simtmm.trace.importers.accelsim.importer.BATCH_EVENTS", 1
    )  # at most, and the block that goes over it
    parted = imported(text)
    assert sum(sizes) == 9
    assert max(sizes) <= 2  # a block without events, and the next
    assert parted.info.digest == whole.info.digest


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[1::4])
def test_blocks_in_any_order_give_the_same_trace(imported, monkeypatch, order):
    warps = {index: {0: [load(GLOBAL + 4096 * index, "R4", pc=16 * index)] * (index + 1)} for index in range(4)}
    blocks = {(index % 2, index // 2, 0): warps[index] for index in range(4)}
    shuffled = {key: blocks[key] for key in (list(blocks)[index] for index in order)}
    monkeypatch.setattr("simtmm.trace.importers.accelsim.importer.BATCH_EVENTS", 1)  # each block comes alone
    found = [imported(traceg(text, grid=(2, 2, 1))) for text in (blocks, shuffled)]
    assert found[0].info.digest == found[1].info.digest
    assert [row[1] for row in events(found[1])][::32] == [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]


def test_warps_in_any_order_give_the_same_trace(imported):
    warps = {index: [load(GLOBAL + 4096 * index, "R4")] * (index + 1) for index in range(4)}
    shuffled = {index: warps[index] for index in (2, 0, 3, 1)}
    found = [imported(traceg({(0, 0, 0): warps}, block=(128, 1, 1))) for warps in (warps, shuffled)]
    assert found[0].info.digest == found[1].info.digest


@pytest.fixture
def small_table(monkeypatch):
    """A table of operations with little room, so that blocks are handed on in parts; their events in each."""
    whole, parts = table.no_operations(), []
    small = {name: array[:200] for name, array in whole._asdict().items() if name not in ("counts", "pool")}
    small["pool"] = whole.pool[: 200 * table.LANES]
    monkeypatch.setattr("simtmm.trace.importers.warps.no_operations", lambda: whole._replace(**small))
    monkeypatch.setattr("simtmm.trace.importers.accelsim.importer.LONG_EVENTS", 1)
    add = Blocks.add_part
    monkeypatch.setattr(
        Blocks, "add_part", lambda own, what: parts.append(int(what.counts[table.Counts.events])) or add(own, what)
    )
    return parts


@pytest.mark.parametrize("seed", range(4))
def test_a_long_block_is_handed_on_in_parts(imported, small_table, seed):
    text = drawn(f"long {seed}", 3 + seed % 3, blocks=4, length=400)
    assert events(imported(text)) == expected(text)
    assert len(small_table) > 5
    assert min(small_table) > 0


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2), (1, 2, 3, 0)])
def test_long_blocks_among_short_ones_may_come_in_any_order(imported, order, request):
    lines = [load(GLOBAL + 4096 * number, "R4", pc=16 * (number % 5)) for number in range(700)]
    warps = {0: [lines[:5], lines[:3]], 1: [lines, lines[:400]], 2: [lines[:1], []], 3: [lines[:650], lines[:450]]}
    blocks = {(index, 0, 0): dict(enumerate(warps[index])) for index in order}
    text = traceg(blocks, grid=(4, 1, 1), block=(64, 1, 1))
    whole = imported(text)
    parts = request.getfixturevalue("small_table")
    info = imported(text).info
    assert info.digest == whole.info.digest
    assert sum(parts) > 32 * 1500
    assert info.provenance["statistics"] == whole.info.provenance["statistics"]
    assert info.provenance["statistics"]["warps"] == 8
    assert info.provenance["statistics"]["accesses"]["global"] == 8 + 1100 + 1 + 1100


def test_a_long_block_comes_once(imported, small_table):
    lines = [load(GLOBAL, "R4")] * 700
    text = traceg({(0, 0, 0): {0: lines}, (1, 0, 0): {0: lines}}, grid=(2, 1, 1)).replace("= 1,0,0", "= 0,0,0")
    with pytest.raises(TraceError, match="a thread block that has not come before"):
        imported(text)


def test_a_packed_file_gives_the_same_trace(imported, tmp_path):
    text = drawn("packed", 5)
    (tmp_path / "kernel.traceg.xz").write_bytes(lzma.compress(text.encode()))
    packed, plainly = import_trace(tmp_path / "kernel.traceg.xz"), imported(text)
    assert packed.info.digest == plainly.info.digest
    assert packed.info.kernel == plainly.info.kernel == "kernel"
    assert packed.info.sites == plainly.info.sites


def test_line_ends_of_windows_and_blank_lines_change_nothing(imported):
    text = drawn("blank", 5)
    assert imported(text.replace("\n", " \t\r\n\n")).info.digest == imported(text).info.digest


def test_a_file_without_a_last_newline_is_whole(imported):
    text = drawn("newline", 5)
    assert imported(text.rstrip()).info.digest == imported(text).info.digest


# Loads and joins


def test_a_load_is_joined_where_its_register_is_first_read(thread_events):
    found = thread_events(load(GLOBAL, "R4"), line("IADD3", to=["R6"], of=["R5"]), line("FADD", to=["R7"], of=["R4"]))
    assert found == [("async", GLOBAL), ("work", 1), ("join", 0), ("work", 1)]


def test_loads_that_were_issued_later_are_left_out(thread_events):
    loads = [load(GLOBAL + 4096 * index, f"R{4 + index}") for index in range(4)]
    reads = [line("FADD", of=[f"R{register}"]) for register in (5, 4, 7, 6)]
    found = [row for row in thread_events(*loads, *reads) if row[0] != "async"]
    # R5 leaves two in flight and covers R4; R7, the last, covers R6.
    assert found == [("join", 2), ("work", 2), ("join", 0), ("work", 2)]


def test_an_instruction_that_reads_two_loads_joins_once(thread_events):
    found = thread_events(load(GLOBAL, "R4"), load(GLOBAL, "R5"), line("FADD", of=["R5", "R4"]))
    assert [row[0] for row in found] == ["async", "async", "join", "work"]


def test_a_store_joins_what_it_stores(thread_events):
    found = thread_events(load(GLOBAL, "R4"), store(GLOBAL, "R4"))
    assert [row[0] for row in found] == ["async", "join", "store"]


def test_a_wide_store_reads_all_registers_of_its_data(thread_events):
    found = thread_events(load(GLOBAL, "R7"), store(GLOBAL, "R4", opcode="STG.E.128", width=16))
    assert [row[0] for row in found] == ["async", "join", "store"]


def test_a_wide_load_writes_all_its_registers(thread_events):
    read = line("FADD", of=["R7"])
    assert [row[0] for row in thread_events(load(GLOBAL, "R4", width=16), read)] == ["async", "join", "work"]
    assert [row[0] for row in thread_events(load(GLOBAL, "R4", width=8), read)] == ["async", "work"]


def test_a_register_that_is_overwritten_is_no_longer_waited_for(thread_events):
    found = thread_events(load(GLOBAL, "R4"), line("MOV", to=["R4"]), line("FADD", of=["R4"]))
    assert found == [("async", GLOBAL), ("work", 2)]


def test_the_zero_register_is_never_waited_for(thread_events):
    assert [row[0] for row in thread_events(load(GLOBAL, "R255"), line("FADD", of=["R255"]))] == ["async", "work"]


def test_lanes_wait_for_their_own_loads_only(imported):
    lines = [load(GLOBAL, "R4", mask=0xFF), load(GLOBAL, "R4", mask=0xF), line("FADD", of=["R4"])]
    joins = {row[2]: row[4] for row in events(imported(traceg([lines]))) if row[3] == "join"}
    assert joins == dict.fromkeys(range(8), 0)


def test_a_warp_begins_with_nothing_in_flight(imported):
    lines = [load(GLOBAL, "R4")], [line("FADD", of=["R4"])]
    rows = events(imported(traceg(list(lines), block=(64, 1, 1))))
    assert [row[3] for row in rows if row[2] >= 32] == ["work"] * 32


def test_a_barrier_waits_for_loads_so_that_no_join_follows(thread_events):
    found = thread_events(load(GLOBAL, "R4"), line("BAR.SYNC"), line("FADD", of=["R4"]))
    assert [row[0] for row in found] == ["async", "barrier", "work"]


def test_who_only_arrives_at_a_barrier_does_not_wait(thread_events):
    assert thread_events(line("BAR.ARV"), line("BAR.RED.POPC"), line("BAR.SYNC.DEFER_BLOCKING")) == [
        ("work", 1), ("barrier", 0), ("barrier", 0),
    ]  # fmt: skip


def test_an_atomic_is_waited_for(thread_events):
    found = thread_events(store(GLOBAL, "R4", opcode="ATOMG.E.ADD", to=["R6"]), line("FADD", of=["R6"]))
    assert found == [("atomic", GLOBAL), ("work", 1)]


# Lockstep finds the warps' lines again


def test_lowered_for_32_lanes_a_warp_does_what_its_lines_say(imported):
    half = 0xFFFF
    lines = [
        line("IADD3", pc=0), line("IADD3", pc=16),
        line("FADD", mask=half, pc=32), line("FADD", mask=half, pc=48),  # then
        line("FMUL", mask=~half & 0xFFFFFFFF, pc=64),  # else
        load(GLOBAL, "R4", pc=80), load(GLOBAL + 4096, "R5", pc=96), line("FADD", of=["R4"], pc=112),
        line("EXIT", pc=128),
    ]  # fmt: skip
    assert warp_operations(imported(traceg([lines]))) == [
        ["compute", 5], ["async", [GLOBAL // 128]], ["async", [GLOBAL // 128 + 32]], ["join", 1], ["compute", 2],
    ]  # fmt: skip


def test_a_loop_that_lanes_leave_one_by_one_meets_again_behind_it(imported):
    body = [[load(GLOBAL + 128 * turn, "R4", mask=mask, pc=16), line("FADD", mask=mask, of=["R4"], pc=32)]
            for turn, mask in enumerate([0xFFFFFFFF, 0xFF, 0x1])]  # fmt: skip
    lines = [*itertools.chain(*body), store(GLOBAL, "R4", pc=48)]
    operations = warp_operations(imported(traceg([lines])))
    assert [operation[0] for operation in operations] == ["async", "join", "compute"] * 3 + ["store"]


def test_program_counters_are_sites_in_ascending_order_whatever_comes_first(imported):
    lines = [line("BRA", pc=0), line("BRA", pc=0x4000, mask=0xF), load(GLOBAL, "R4", pc=0x200), line("EXIT", pc=0x210)]
    sites = imported(traceg([lines])).info.sites
    assert [site.source for site in sites] == [
        "shared memory", "/*0000*/ BRA", "/*0200*/ LDG.E", "/*0210*/ EXIT", "/*4000*/ BRA",
    ]  # fmt: skip
    assert [site.kind for site in sites] == ["shared_array", "work", "async", "work", "work"]
    assert [site.site for site in sites] == sorted(site.site for site in sites)


def test_sites_name_the_source_line_where_the_trace_has_it(imported):
    lines = [load(GLOBAL, "R4", pc=0x20)]
    assert [site.line for site in imported(traceg([lines], version=4, lineinfo=True)).info.sites] == [0, 0x20 // 16 + 7]
    assert [site.file for site in imported(traceg([lines])).info.sites] == ["", "_Z1fv"]


# Memory


def test_bases_with_strides_and_deltas_are_what_the_format_says(imported):
    strided = line("LDG.E", to=["R4"], of=["R2"], width=4, mask=0xFFFFFFFF, text="1 0x7fb0fc430e00 4")
    apart = line("LDG.E", to=["R8"], of=["R2"], width=4, mask=0x00212428, text="2 0x7fc841500d1c 16 40 24 24 40")
    rows = events(imported(traceg([[strided, apart]])))
    found = {row[2]: row[4] for row in rows if row[4] >= 0x7FC841500D00}
    assert found == dict(zip([3, 5, 10, 13, 16, 21], [0x7FC841500D1C, 0x7FC841500D2C, 0x7FC841500D54, 0x7FC841500D6C,
                                                      0x7FC841500D84, 0x7FC841500DAC], strict=True))  # fmt: skip
    assert [row[4] for row in rows if row[4] < 0x7FC841500D00] == [0x7FB0FC430E00 + 4 * lane for lane in range(32)]


def test_strides_and_deltas_may_be_negative(thread_events):
    down = line("LDG.E", width=4, mask=0x3, text=f"1 0x{GLOBAL:x} -8")
    back = line("LDG.E", width=4, mask=0x5, text=f"2 0x{GLOBAL:x} -128")
    assert thread_events(down, back, thread=1) == [("async", GLOBAL - 8)]
    assert thread_events(down, back, thread=2) == [("async", GLOBAL - 128)]


def test_addresses_stay_as_they_are(imported):
    trace = imported(traceg([[load(GLOBAL + 20, "R4")]]))
    assert [row[4] for row in events(trace)] == [GLOBAL + 20 + 4 * lane for lane in range(32)]
    assert warp_operations(trace) == [["async", [GLOBAL // 128, GLOBAL // 128 + 1]]]


def test_banks_of_shared_memory_are_those_of_the_offsets(imported):
    lines = [
        store(0x100, "R4", opcode="STS"),  # a bank for each lane
        load(0, "R5", opcode="LDS", stride=128),  # all in one bank
        load(SHARED_BASE + 64, "R5", opcode="LDS", stride=8),  # two lanes to a bank, by a generic address
    ]
    assert warp_operations(imported(traceg([lines]))) == [["shared", 1], ["shared", 32], ["shared", 2]]


@pytest.mark.parametrize(
    "bases", [(SHARED_BASE, LOCAL_BASE), (LOCAL_BASE, SHARED_BASE)], ids=["shared first", "local first"]
)
def test_generic_accesses_go_where_their_addresses_lie(imported, bases):
    shared, local = bases
    addresses = [GLOBAL, shared, shared + 2**24 - 4, shared + 2**24, local + 4, local - 4]
    text = line("LD.E", mask=0x3F, to=["R4"], of=["R2"], width=4, addresses=addresses)
    rows = events(imported(traceg([[text]], shared_base=shared, local_base=local)))
    own = LOCAL_MEMORY + (1 * 32 + 4) * 4  # the second word of the fifth of 32 threads
    assert [(row[2], row[3], row[4]) for row in rows] == [
        (0, "async", GLOBAL), (1, "shared_load", 0), (2, "shared_load", 2**24 - 4), (3, "async", shared + 2**24),
        (4, "async", own), (5, "async", local - 4),
    ]  # fmt: skip


def test_without_a_window_generic_accesses_are_global(thread_events):
    found = thread_events(load(0x1000, "R4", opcode="LD.E"), shared_base=0, local_base=0)
    assert found == [("async", 0x1000)]


def test_overlapping_windows_end_where_the_other_begins(thread_events):
    lines = load(SHARED_BASE + 4096, "R4", opcode="LD.E", stride=0), load(SHARED_BASE, "R4", opcode="LD.E", stride=0)
    found = thread_events(*lines, local_base=SHARED_BASE + 4096)
    assert found == [("async", LOCAL_MEMORY), ("shared_load", 0)]


@pytest.mark.parametrize(("width", "opcode", "chunks"), [(4, "LDL", 1), (8, "LDL.64", 2), (16, "LDL.128", 4)])
def test_local_memory_is_global_traffic_side_by_side(imported, width, opcode, chunks):
    trace = imported(traceg([[load(LOCAL_BASE + 64, "R4", opcode=opcode, width=width, stride=0)]]))
    ((name, listed),) = warp_operations(trace)
    assert (name, len(listed)) == ("async", chunks)
    assert trace.info.arrays[-1].name == "local memory"


def test_no_thread_reaches_the_local_memory_of_another(imported):
    lines = [load(LOCAL_BASE, "R4", opcode="LDL", stride=0), load(LOCAL_BASE + 4, "R4", opcode="LDL", stride=0)]
    blocks = {(block, 0, 0): dict.fromkeys(range(2), lines) for block in range(3)}
    places = [row[4] for row in events(imported(traceg(blocks, block=(64, 1, 1))))]
    assert sorted(places) == [LOCAL_MEMORY + 4 * index for index in range(2 * 3 * 64)]


def test_an_asynchronous_copy_to_shared_memory_is_a_load_that_a_barrier_waits_for(thread_events):
    copy = line("LDGSTS.E.BYPASS.128", of=["R6", "R2"], width=16, text=f"1 0x{GLOBAL:x} 16")
    assert thread_events(copy, line("LDGDEPBAR"), line("BAR.SYNC")) == [("async", GLOBAL), ("work", 1), ("barrier", 0)]


def test_constant_loads_count_as_compute(thread_events):
    constant = line("LDC.64", to=["R4"], width=8, text="1 0x160 0")
    assert thread_events(constant, line("FADD", of=["R4"])) == [("work", 2)]


def test_lanes_that_are_off_do_nothing(imported):
    lines = [line("IADD3", mask=0), load(GLOBAL, "R4", mask=0x80000001, mode=2), line("FADD", mask=0, of=["R4"])]
    assert [(row[2], row[3]) for row in events(imported(traceg([lines])))] == [(0, "async"), (31, "async")]


# Launches


def test_a_list_of_kernels_is_a_launch_each(tmp_path):
    first = traceg([[load(GLOBAL, "R4")]], name="first", shmem=1024, nregs=40, block=(16, 2, 1))
    second = traceg({(0, 0, 0): {0: [line("EXIT")]}, (1, 0, 0): {0: [line("EXIT")]}}, name="second", nregs=8, version=3)
    (tmp_path / "a.traceg").write_text(first, encoding="utf-8")
    (tmp_path / "b.traceg.xz").write_bytes(lzma.compress(second.encode()))
    lines = ["MemcpyHtoD,0x00007f0000000000,400", "a.traceg", "", "# in turn", "b.traceg.xz", "a.traceg"]
    (tmp_path / "kernelslist.g").write_text("\n".join(lines), encoding="utf-8")
    trace = import_trace(tmp_path / "kernelslist.g")
    assert events(trace) == expected(first, second, first)
    assert [
        (launch.kernel, launch.grid, launch.block, launch.registers_per_thread, launch.shared_memory_bytes)
        for launch in trace.info.launches
    ] == [
        ("first", (1, 1, 1), (16, 2, 1), 40, 1024),
        ("second", (2, 1, 1), (32, 1, 1), 8, 0),
        ("first", (1, 1, 1), (16, 2, 1), 40, 1024),
    ]
    assert [array.name for array in trace.info.arrays] == [f"copied {GLOBAL:#x}"]
    assert trace.info.provenance["tracer"] == "accelsim 5, nvbit 1.7, accelsim 3, nvbit 1.7"


def test_kernels_have_sites_of_their_own(tmp_path):
    for name in ("f", "g"):
        text = traceg([[load(GLOBAL, "R4"), line("EXIT", pc=16)]], name=name)
        (tmp_path / f"{name}.traceg").write_text(text, encoding="utf-8")
    (tmp_path / "kernelslist.g").write_text("f.traceg\ng.traceg\nf.traceg\n", encoding="utf-8")
    sites = import_trace(tmp_path / "kernelslist.g").info.sites
    assert [(site.file, site.source) for site in sites[1:]] == [
        (name, source) for name in ("f", "g") for source in ("/*0000*/ LDG.E", "/*0010*/ EXIT")
    ]


def test_more_sites_than_16_bits_number_are_distinguished(imported):
    """A kernel of 40,000 program counters, two sites each."""
    count = 40_000
    lines = [line("FADD", pc=16 * index, mask=1 << index % 2) for index in range(count)]
    trace = imported(traceg([lines]))
    assert max(site.site for site in trace.info.sites) == 2 * count
    ((warp,),) = [block["warps"] for block in lower(trace, load_machine("ideal")).to_dict()["launches"][0]["blocks"]]
    assert warp == [["compute", count]]


def test_occupancy_follows_from_the_header(imported):
    machine = load_machine("gtx480")
    few, many = (imported(traceg([[line("EXIT")]] * 16, block=(512, 1, 1), nregs=n)) for n in (16, 63))
    assert lower(few, machine).launch_limits.tolist() == [machine.active_blocks(512, 16, 0)]
    assert lower(many, machine).launch_limits.tolist() == [machine.active_blocks(512, 63, 0)]
    assert machine.active_blocks(512, 63, 0) < machine.active_blocks(512, 16, 0)


# Opcodes


def test_an_unknown_opcode_is_named_once_and_counts_as_compute(thread_events, caplog):
    found = thread_events(*[line("FROB.X"), line("FROB.Y", pc=16), line("TEX.SCR", pc=32)] * 2)
    assert found == [("work", 6)]
    assert [record.getMessage().split(": ", 1)[1] for record in caplog.records] == [
        "opcode FROB is unknown: counts as one compute instruction",
        "opcode TEX is unknown: counts as one compute instruction",
    ]


def test_an_access_without_addresses_is_named_once_and_counts_as_compute(thread_events, caplog):
    assert thread_events(line("LDG.E", to=["R4"]), line("LDG.E", to=["R4"]), line("FADD", of=["R4"])) == [("work", 3)]
    (record,) = caplog.records
    assert "opcode LDG has no addresses" in record.getMessage()


def test_the_opcodes_of_the_real_files_are_known(caplog):
    if not REAL.is_dir():
        pytest.skip("the real files lie beside the project, where they are there at all")
    for file in sorted(REAL.glob("*/kernelslist.g")):
        import_trace(file)
    assert caplog.records == []


def test_a_long_opcode_is_read_and_shown_by_its_ends(thread_events, caplog):
    assert thread_events(*[line("Z" * length) for length in (100, 101, 128)]) == [("work", 3)]
    assert [len(record.getMessage().split(": ", 1)[1]) < 200 for record in caplog.records] == [True] * 3


def test_many_kinds_of_opcodes_are_distinguished(imported):
    lines = [line(f"FADD.M{number}", pc=16 * number) for number in range(1500)]
    lines.insert(700, load(GLOBAL, "R4", pc=16 * 1500))
    rows = events(imported(traceg([lines])))
    assert [(row[3], row[4]) for row in rows if row[2] == 31] == [("work", 700), ("async", GLOBAL + 124), ("work", 800)]


# Arrays


def test_touched_pages_side_by_side_are_one_array(imported):
    lines = [load(GLOBAL + 4000, "R4", mask=1, mode=2), load(GLOBAL + 4096 + 100, "R4", mask=1, mode=2, width=8),
             load(GLOBAL + 3 * 4096, "R4", mask=1, mode=2)]  # fmt: skip
    arrays = imported(traceg([lines])).info.arrays
    assert [(array.base, array.bytes) for array in arrays] == [(GLOBAL + 4000, 204), (GLOBAL + 3 * 4096, 4)]


def test_an_access_across_pages_touches_both(imported):
    arrays = imported(traceg([[load(GLOBAL + 4094, "R4", mask=1, mode=2)]])).info.arrays
    assert [(array.base, array.bytes) for array in arrays] == [(GLOBAL + 4094, 4)]


def test_more_pages_than_a_table_begins_with(imported):
    lines = [load(GLOBAL + 32 * 8192 * index, "R4", stride=8192) for index in range(300)]
    arrays = imported(traceg([lines])).info.arrays
    assert [array.base for array in arrays] == [GLOBAL + 8192 * index for index in range(32 * 300)]


def test_a_streamed_trace_is_that_in_memory(imported, tmp_path):
    text = drawn("streamed", 5)
    streamed = imported(text, output=tmp_path / "t.parquet")
    assert events(load_trace(tmp_path / "t.parquet")) == events(imported(text))
    assert streamed.info.digest == imported(text).info.digest


def test_progress_goes_up_to_all(imported):
    seen = []
    imported(drawn("progress", 5), progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1] > 0
