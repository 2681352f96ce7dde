"""Strides, buffers and small kernels: what they say of a machine, jointly, and rows that say nothing."""

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.calibration.from_files import calibrate_files
from simtmm.calibration.hierarchy.measured import MeasuredSet, Row, load_set
from simtmm.calibration.hierarchy.simulated import SimulatedSet
from simtmm.calibration.hierarchy.together import fit_hierarchy
from simtmm.calibration.hierarchy.workloads import parts_of_l2
from simtmm.engine import simulate
from simtmm.errors import StudyError

FEW = {"cores.groups": 4, "memory.partitions": 4, "scheduling.block_interval": 20}
MACHINE = load_machine("a40").replace(FEW)
OTHER = {
    "scheduling.block_interval": 60, "scheduling.launch_overhead": 3100, "scheduling.graph_launch_overhead": 1400,
}  # fmt: skip
STRIDES = tuple(
    Row(f"stride {stride}", {"type": "float", "kernel": "stride", "parameter": stride, "pitch": 0}, 1.0)
    for stride in (0, 1, 2, 3, 5, 7, 9, 12, 17, 31)
)
SMALL = tuple(
    Row("", {"way": way, "block": block, "elements": elements}, 1.0)
    for way in ("launch", "graph") for block in (32, 128, 512) for elements in (512, 4096, 16384, 65536)
)  # fmt: skip


def measured(kind, rows, machine):
    """The rows as that machine would take them."""
    off = SimulatedSet(MeasuredSet(kind, "rows.csv", rows, {}), machine).residuals(machine)
    off = -off if kind in ("caches", "l2") else off
    return MeasuredSet(
        kind, "rows.csv",
        tuple(Row(row.case, row.of, float(value)) for row, value in zip(rows, np.exp(off), strict=True)), {},
    )  # fmt: skip


def test_values_come_back_from_another_machine():
    truth = MACHINE.replace({**OTHER, "memory.pipe.tag_interval": 0.5})
    sets = [measured("strides", STRIDES, truth), measured("small", SMALL, truth)]
    found = fit_hierarchy(MACHINE, sets)
    values = {value.key: value for value in found.values}
    assert values["memory.pipe.tag_interval"].value == pytest.approx(0.5, abs=0.03)
    for key, value in OTHER.items():
        assert values[key].value == pytest.approx(value, rel=0.03), key
    assert values["scheduling.block_interval"].measurement == "rows.csv"
    assert all(each.after < 0.02 < each.before for each in found.sets), found.sets


def test_of_a_single_row_nothing_is_known_where_it_is_left_out():
    truth = MACHINE.replace({"memory.pipe.tag_interval": 0.5})
    (row,) = STRIDES[-1:]
    found = fit_hierarchy(MACHINE, [measured("strides", (row,), truth)])
    (of_set,) = found.sets
    assert found.values == ()
    assert of_set.left_out == of_set.before == of_set.after > 0.05
    assert any("on rows left out" in note for note in found.notes)


def test_what_the_machine_has_already_stays():
    found = fit_hierarchy(MACHINE, [measured("strides", STRIDES, MACHINE), measured("small", SMALL, MACHINE)])
    assert found.values == ()
    assert [each.after for each in found.sets] == pytest.approx([0, 0], abs=1e-9)


def test_what_rows_do_not_show_stays_and_is_named():
    """Loads of neighbouring elements take one line each: they say nothing of further ones, nor does a launch."""
    row = STRIDES[1]
    truth = MACHINE.replace({"memory.pipe.access_interval": 3, "memory.pipe.tag_interval": 1})
    found = fit_hierarchy(MACHINE, [measured("strides", (row,) * 5, truth)])
    assert "memory.pipe.tag_interval" not in {value.key for value in found.values}
    assert any(
        note.startswith("memory.pipe.tag_interval: not determined by strides: stays 0.3") for note in found.notes
    )


def test_a_set_that_no_value_comes_near_stays_with_the_machine_and_the_others_are_fitted():
    """Rows that contradict each other: half of them twice as slow as the machine, half twice as fast."""
    rows = measured("strides", STRIDES, MACHINE).rows
    apart = tuple(
        Row(row.case, row.of, row.measured * (2 if number % 2 else 0.5))
        for number, row in enumerate(rows + rows)
    )  # fmt: skip
    truth = MACHINE.replace(OTHER)
    found = fit_hierarchy(MACHINE, [MeasuredSet("strides", "strides.csv", apart, {}), measured("small", SMALL, truth)])
    by_kind = {each.kind: each for each in found.sets}
    assert by_kind["strides"].after <= by_kind["strides"].before + 0.0005
    assert by_kind["small"].after < 0.02 < by_kind["small"].before


def test_blocks_that_read_parts_of_a_buffer_read_all_of_it():
    workload, moved = parts_of_l2(1024, MACHINE, 2)
    result = simulate(MACHINE, workload, breakdown=False)
    assert moved == workload.blocks * 512 * 1024
    assert result.transactions * MACHINE.chunk_bytes == moved
    assert len(np.unique(workload.chunks)) * MACHINE.chunk_bytes == 1024 * 1024


def test_parts_of_a_buffer_lie_as_where_it_was_measured():
    """As in read_parts of l2.cu: at[0] and at[THREADS], and pairs as far apart as all parts together."""
    workload, _ = parts_of_l2(1536, MACHINE, 1)  # three parts
    lines, line = 1024 * 8 // MACHINE.chunk_bytes, MACHINE.chunk_bytes // 8
    assert MACHINE.cores.warp_width == 32
    for block, warp in ((0, 0), (1, 3), (3, 31)):
        own = workload.chunks[workload.warp_chunks[32 * block + warp] :][: 64 * 2].reshape(64, 2)
        for pair in (0, 1, 31):
            at = 2 * 1024 * (block % 3) + pair * 3 * 2 * 1024 + 32 * warp
            assert own[2 * pair].tolist() == [at // line, at // line + 1]
            assert own[2 * pair + 1].tolist() == [at // line + lines, at // line + lines + 1]


def test_a_buffer_has_whole_parts_alone_as_the_kernel_that_was_measured_has_it():
    workload, moved = parts_of_l2(1536, MACHINE, 1)
    larger, as_much = parts_of_l2(1536 + 511, MACHINE, 1)
    assert (as_much, larger.chunks.tolist()) == (moved, workload.chunks.tolist())


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        ("small", "run,elements,block,GB_per_s\na,4096,2048,3\n", "block = 2048: must be at most 1024 threads"),
        ("small", "run,elements,block,GB_per_s\na,4096,32,3\nb,4096,32,3\n", "has several GPUs: choose one of a, b"),
        ("small", "run,elements,block,GB_per_s\na,900000000,32,3\n", "has no row that a value of A40"),
        ("strides", "type,kernel,parameter,pitch,cycles_per_warp_load\nhalf,stride,1,0,3\n",
         "type = 'half': must be one of float, double, float4"),
        ("strides", "type,kernel,parameter,pitch,cycles_per_warp_load\nfloat,block,3,10,3\n",
         "parameter = 3: of a block must be a divisor of 1024"),
        ("strides", "type,kernel,parameter,pitch\nfloat,stride,1,0\n", "has no column 'cycles_per_warp_load'"),
        ("l2", "kB_in_all,GB_per_s\n1000,3\n", "kB_in_all = 1000: must be a multiple of 512"),
        ("l2", "kernel,parameters,machine,seconds\nread_parts,n=3,a,1e-3\n", "need kilobytes, a whole number"),
        ("caches", "kB_per_block,GB_per_s\n16,-3\n", "GB_per_s = '-3': must be a number above 0"),
    ],
)  # fmt: skip
def test_a_file_that_says_something_else_is_refused(tmp_path, kind, text, said):
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(StudyError, match=r"rows\.csv") as refused:
        load_set(kind, path, None, MACHINE)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_small_kernels_have_the_blocks_that_their_rows_say(tmp_path):
    path = tmp_path / "times.csv"
    rows = "quarter,n=4096;threads=32,mine,2e-6\nquarter,n=4096,mine,2e-6\n"
    path.write_text(f"kernel,parameters,machine,seconds\n{rows}")
    assert [row.of["block"] for row in load_set("small", path, None, MACHINE).rows] == [32, 256]
    path.write_text("kernel,parameters,machine,seconds\nquarter,n=4096;threads=2048,mine,2e-6\n")
    with pytest.raises(StudyError, match="threads = '2048': must be a whole number from 1 to 1024"):
        load_set("small", path, None, MACHINE)


def test_what_does_not_go_together_is_refused(tmp_path):
    with pytest.raises(StudyError, match="small: needs a machine"):
        calibrate_files("m", None, None, {"small": tmp_path / "rows.csv"}, None)
    with pytest.raises(StudyError, match="needs a pointer chase"):
        calibrate_files("m", None, tmp_path / "rows.csv", {"small": tmp_path / "rows.csv"}, MACHINE)
