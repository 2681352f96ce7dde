"""Traces written back as Accel-Sim's: an import of what is written is the same trace, to the digest."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from simtmm import record
from simtmm.errors import TraceError
from simtmm.trace.exporters import export_accelsim
from simtmm.trace.exporters.accelsim import BYTES_OF_BLOCK, BYTES_OF_WARP
from simtmm.trace.importers import import_trace
from simtmm.trace.io import Trace
from tests.recorder.conftest import needs_compiler
from tests.trace.importers.build import drawn, line, load, store, traceg

REAL = Path(__file__).parents[4] / "shared" / "data" / "traceg"
GLOBAL = 0x7F0000000000


def again(trace, folder):
    """What an import gives of what an export of the trace writes."""
    made = export_accelsim(trace, folder, 80)
    assert made.merged == 0
    return import_trace(folder / "kernelslist.g")


@pytest.mark.parametrize("seed", range(6))
def test_a_drawn_trace_comes_back(tmp_path, seed):
    (tmp_path / "kernel.traceg").write_text(drawn(f"export {seed}", 4, blocks=2, lineinfo=seed % 2 == 0))
    trace = import_trace(tmp_path / "kernel.traceg")
    back = again(trace, tmp_path / "out")
    assert back.info.digest == trace.info.digest
    assert [site.line for site in back.info.sites] == [site.line for site in trace.info.sites]


@pytest.mark.parametrize(
    "name", ["gpucachesim_matrixmul-32-32", "gpucachesim_vectoradd-100-32", "mgpusim_simple-trace-example"]
)
def test_a_real_trace_comes_back(tmp_path, name):
    source = REAL / name / "kernelslist.g"
    if not source.exists():
        pytest.skip("the real traces are not here")
    trace = import_trace(source)
    back = again(trace, tmp_path / "out")
    assert (back.info.digest, back.info.arrays, back.info.launches) == (
        trace.info.digest,
        trace.info.arrays,
        trace.info.launches,
    )


def test_kernels_copies_grids_and_blocks_that_do_nothing_come_back(tmp_path):
    """Two kernels, one launched twice; the second has program counters below those of its first event."""
    one = traceg(
        {(0, 0, 0): {0: []}, (1, 0, 0): {0: [load(GLOBAL, "R4"), line("FADD", pc=16, to=("R5",), of=("R4",))]}}
    )
    work = [line("MOV", pc=8 * number) for number in range(3)]
    two = traceg(
        {
            (0, y, z): {0: [*work, store(GLOBAL + 4096, "R4", pc=64), line("EXIT", pc=72)]}
            for y in (0, 1)
            for z in (0, 1)
        },
        grid=(1, 2, 2),
        name="_Z1gv",
    )
    for number, text in enumerate((one, two, one)):
        (tmp_path / f"kernel-{number}.traceg").write_text(text)
    copies = f"MemcpyHtoD,0x{GLOBAL:016x},4096\n"
    (tmp_path / "kernelslist.g").write_text(copies + "".join(f"kernel-{number}.traceg\n" for number in range(3)))
    trace = import_trace(tmp_path / "kernelslist.g")
    back = again(trace, tmp_path / "out")
    assert (back.info.digest, back.info.arrays) == (trace.info.digest, trace.info.arrays)
    assert [array.name.split()[0] for array in back.info.arrays] == ["copied", "touched"]


def test_a_join_is_a_register_that_its_load_writes_and_the_next_instruction_reads(tmp_path):
    lines = [
        load(GLOBAL, "R4", pc=0),
        load(GLOBAL + 256, "R6", width=8, pc=16),
        line("FADD", pc=32, to=("R5",), of=("R4",)),
        line("EXIT", pc=48),
    ]
    (tmp_path / "kernel.traceg").write_text(traceg([lines]))
    again(import_trace(tmp_path / "kernel.traceg"), tmp_path / "out")
    text = (tmp_path / "out" / "kernel-1.traceg").read_text()
    written, read = re.search(r" 1 R(\d+) LDG", text)[1], re.search(r" FADD 1 R(\d+) ", text)[1]
    assert written == read
    assert re.search(r" 1 R255 LDG", text)  # nobody waits for the other one


@needs_compiler
def test_what_did_not_come_from_accel_sim_and_a_folder_that_is_in_use_are_refused(tmp_path):
    with pytest.raises(TraceError, match="vector-add: was not imported from Accel-Sim"):
        export_accelsim(record("vector-add", {"n": 32}), tmp_path / "out", 80)
    (tmp_path / "kernel.traceg").write_text(traceg([[line("EXIT")]]))
    with pytest.raises(TraceError, match="is not empty; a new or an empty folder is needed"):
        export_accelsim(import_trace(tmp_path / "kernel.traceg"), tmp_path, 80)


@pytest.mark.parametrize(("threads", "warps"), [(32, 1), (33, 2), (40, 2), (64, 2), (65, 3)])
def test_a_warp_that_is_not_full_is_counted_as_one(tmp_path, threads, warps):
    (tmp_path / "kernel.traceg").write_text(traceg([[line("EXIT")]]))
    few = import_trace(tmp_path / "kernel.traceg")
    blocks = 2**40
    launch = replace(few.info.launches[0], grid=(2**20, 2**20, 1), block=(threads, 1, 1))
    with pytest.raises(TraceError, match=f"out: {blocks * warps:,} warps need at least "):
        export_accelsim(Trace(replace(few.info, launches=(launch,)), list(few.batches())), tmp_path / "out", 80)


def test_blocks_that_fill_the_disk_are_counted_before_anything_is_written(tmp_path):
    (tmp_path / "kernel.traceg").write_text(traceg([[line("EXIT")]]))
    few = import_trace(tmp_path / "kernel.traceg")
    (launch,) = few.info.launches
    many = replace(few.info, launches=(replace(launch, grid=(2**31 - 1, 65535, 65535)),))
    with pytest.raises(
        TraceError, match=r"out: 9,\d\d\d,[\d,]+ warps need at least [\d,]+ bytes, but the disk has only"
    ):
        export_accelsim(Trace(many, list(few.batches())), tmp_path / "out", 80)
    assert list((tmp_path / "out").iterdir()) == []
    blocks = 1000
    made = export_accelsim(
        Trace(replace(few.info, launches=(replace(launch, grid=(blocks, 1, 1)),)), list(few.batches())),
        tmp_path / "few", 80,
    )  # fmt: skip
    least = blocks * (BYTES_OF_BLOCK + BYTES_OF_WARP)
    assert least <= made.files[0].stat().st_size < 1.2 * least
