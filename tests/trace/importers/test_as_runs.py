"""What importers hand on is held as runs, of blocks in the shapes of their launches; it is the trace that it was."""

import dataclasses
import tempfile

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import load_machine, load_trace, lower
from simtmm.trace.digest import TraceDigest
from simtmm.trace.importers import import_trace
from simtmm.trace.importers.memtrace_lines import RECORD
from simtmm.trace.importers.memtrace_order import Counts, of_whole_blocks
from simtmm.trace.runs.file import COLUMNS
from tests.examples import examples
from tests.trace.importers import build, test_memtrace
from tests.trace.importers.build import line, load, store, traceg
from tests.trace.importers.test_memtrace import access, launch
from tests.trace.rows import write_rows

GLOBAL = 0x7F0000000000
BLOCKS = 30

# As they were when imported traces were rows of events, and sites did not say whose values nobody uses.
DIGESTS = {
    "accelsim 2": "7b8e17b1d3f2b32255956dd045b3367581d8fecd",
    "accelsim 5": "718fb24df4eb0e773818b97005d0eca71aed30d7",
    "mem-trace": "97d9313e5b89bbdb649c8aad11d84f7d8f6b1f0f",
}


@pytest.fixture
def source(tmp_path):
    """A file with a text."""

    def make(text):
        path = tmp_path / "source.txt"
        path.write_text(text, encoding="utf-8")
        return path

    return make


def drawn(name):
    form, _, version = name.partition(" ")
    if form == "mem-trace":
        return test_memtrace.drawn("digest")[0]
    return build.drawn(f"digest {version}", int(version))


def regular(form):
    """Each of BLOCKS blocks of 16 x 4 threads adds two arrays; mem_trace mixes its blocks."""
    shape = {"grid": (BLOCKS, 1, 1), "block": (16, 4, 1)}
    at = [[GLOBAL + 128 * (2 * block + warp) for warp in range(2)] for block in range(BLOCKS)]
    if form == "mem-trace":
        lines = [
            access(opcode, at[block][warp] + offset, block=(block, 0, 0), warp=warp)
            for warp in range(2)
            for opcode, offset in (("LDG.E", 0), ("LDG.E", 2**24), ("STG.E", 2**25))
            for block in reversed(range(BLOCKS))
        ]
        return launch(**shape) + "".join(lines)
    warps = {
        (block, 0, 0): {
            warp: [
                load(at[block][warp], "R4", pc=0),
                load(at[block][warp] + 2**24, "R5", pc=16),
                line("FADD", pc=32, to=["R6"], of=["R4", "R5"]),
                store(at[block][warp] + 2**25, "R6", pc=48),
            ]
            for warp in range(2)
        }
        for block in range(BLOCKS)
    }
    return traceg(warps, **shape)


@pytest.mark.parametrize("name", DIGESTS)
def test_the_digest_is_that_of_the_events(source, tmp_path, name):
    path = source(drawn(name))
    imported = import_trace(path)
    digest = TraceDigest()
    for runs in imported.runs():
        digest.add(runs)
    before = [dataclasses.replace(site, unused=False) for site in imported.info.sites]
    assert digest.finish(imported.info.launches, imported.info.arrays, before) == DIGESTS[name]
    assert import_trace(path, output=tmp_path / "t.parquet").info.digest == imported.info.digest


@pytest.mark.parametrize("form", ["accelsim", "mem-trace"])
def test_blocks_that_do_the_same_are_one_structure(source, tmp_path, form):
    path = source(regular(form))
    import_trace(path, output=tmp_path / "t.parquet")
    table = pq.read_table(tmp_path / "t.parquet")
    assert table.schema.remove_metadata().equals(COLUMNS)
    assert table.column("structure").to_pylist() == [0] * BLOCKS
    for trace in (import_trace(path), load_trace(tmp_path / "t.parquet")):
        pieces = list(trace.runs())
        assert {runs.shape for runs in pieces} == {(16, 4, 1)}
        assert sum(len(runs.block) for runs in pieces) == BLOCKS
        assert sum(len(runs.structures.structure) for runs in pieces) == len(pieces)
        assert sum(len(runs.values) for runs in pieces) < 10 * BLOCKS  # of 192 events and more a block


@pytest.mark.parametrize("name", DIGESTS)
def test_a_file_of_rows_is_the_same_trace(source, tmp_path, name):
    trace = import_trace(source(drawn(name)))
    write_rows(tmp_path / "rows.parquet", trace.batches(), trace.info, row_group=100)
    rows = load_trace(tmp_path / "rows.parquet")
    assert rows.info == trace.info
    assert rows.to_table().equals(trace.to_table())  # to its end, and so verified
    for machine in ("a100-80", "gtx280"):
        assert lower(rows, load_machine(machine)) == lower(trace, load_machine(machine))


# How mem_trace's records are brought together


@examples(100)
@given(
    blocks=st.lists(st.integers(0, 2**31 - 1) | st.integers(0, 8), max_size=60), most=st.sampled_from([1, 2, 5, 100])
)
def test_records_come_in_stretches_of_whole_blocks_each_as_it_came(blocks, most):
    records = np.zeros(len(blocks), RECORD)
    records["block"], records["line"] = blocks, np.arange(len(blocks))
    counts = Counts()
    with tempfile.TemporaryFile() as mixed, tempfile.TemporaryFile() as file:
        for begin in range(0, len(blocks), most):
            counts.add(records["block"][begin : begin + most])
        if not blocks:
            counts.add(records["block"])
        mixed.write(records.tobytes())
        found = list(of_whole_blocks(counts, mixed, file, most))
    lines = [piece["line"].tolist() for piece in found]
    assert all(lines)
    assert all(piece == sorted(piece) for piece in lines)
    assert sorted(number for piece in lines for number in piece) == list(range(len(blocks)))
    highest = -1
    for piece in found:
        assert piece["block"].min() > highest
        highest = int(piece["block"].max())
        others = piece["block"] != highest
        assert np.count_nonzero(others) < most  # what is held at once, but for the rest of a block
