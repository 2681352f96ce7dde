"""Micro-benchmarks: what an empty kernel and single instructions say of a machine, and rows that say nothing."""

import numpy as np
import pytest

from simtmm import Machine, calibrate, load_machine, simulate
from simtmm.calibration.launch_costs import empty_cycles
from simtmm.calibration.micro import calibrate_micro
from simtmm.errors import StudyError
from simtmm.files import data_file
from simtmm.machine import machine_toml
from simtmm.workload import Workload

GIVEN = {"launch_overhead": 900.0, "block_launch": 200.0, "block_interval": 40.0, "warp_launch": 7.0}
MACHINE = Machine.from_dict(
    {
        "name": "m",
        "clock_hz": 1e9,
        "cores": {"groups": 2, "cores_per_group": 128, "warp_width": 32, "max_threads_per_core": 8},
        "scheduling": GIVEN,
        "memory": {"latency": 1, "chunk_words": 32},
        "limits": {"blocks_per_group": 4},
    }
)
EXIT = [["compute", 1], ["pause", 4]]
LAUNCHES = [(threads, blocks) for threads in (32, 256, 512, 1024) for blocks in (1, 2, 5, 16, 64, 301)]


def predicted(threads, blocks, machine=MACHINE):
    each = np.array([-(-threads // 32)]), np.array([-(-blocks // 2)]), np.array([machine.active_blocks(threads)])
    return float(empty_cycles(tuple(GIVEN.values()), *(value.astype(float) for value in each))[0])


def written(tmp_path, lines, name="micro.csv"):
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n")
    return path


def launches(tmp_path, unit="seconds"):
    lines = [f"empty,threads={t};blocks={b},{predicted(t, b) * 1e-9 * (1e3 if unit != 'seconds' else 1):.9e}"
             for t, b in LAUNCHES]  # fmt: skip
    return written(tmp_path, [f"kernel,parameters,{unit}", *lines, f"copy,n=3,{1e-6}"])


@pytest.mark.parametrize(("threads", "blocks"), LAUNCHES[::5])
def test_the_closed_form_is_what_the_machine_does(threads, blocks):
    """Section 6 of docs/machine.md, as the engine has it, to the tick."""
    block = {"warps": [EXIT] * (threads // 32)}
    workload = Workload.from_dict(
        {"launches": [{"blocks": [block] * blocks, "blocks_per_group": MACHINE.active_blocks(threads)}]}
    )
    assert simulate(MACHINE, workload).cycles == predicted(threads, blocks)


@pytest.mark.parametrize("unit", ["seconds", "milliseconds"])
def test_launch_costs_come_back(tmp_path, unit):
    other = MACHINE.replace({f"scheduling.{key}": 1 for key in GIVEN})
    found = calibrate_micro("again", [launches(tmp_path, unit)], other)
    scheduling = found.machine.scheduling
    # A step that gains less than half a per cent is the last.
    assert {key: getattr(scheduling, key) for key in GIVEN} == pytest.approx(GIVEN, rel=0.02)
    assert found.machine.sources["scheduling.block_interval"].source == "micro.csv"
    assert "rows not used: kernel copy (1)" in found.notes[1]


def test_launches_that_tell_nothing_apart_are_refused(tmp_path):
    path = written(tmp_path, ["kernel,parameters,seconds", *["empty,threads=32;blocks=1,1e-6"] * 9])
    with pytest.raises(StudyError, match="9 launches of an empty kernel can't separate launch_overhead"):
        calibrate_micro("m", [path], MACHINE)


def test_the_empty_kernel_of_an_h100_is_met_with_errors_over_sizes_of_blocks():
    """By 561 times; the profile's values are from five of them, and within twice these errors."""
    profile = load_machine("h100-pcie")
    found = calibrate_micro("h", [data_file("traces", "measured/h100_pcie_micro.csv")], profile)
    assert "mean absolute error 2.0 % over 561 launches" in found.notes[0]
    for value in found.values[1:]:
        assert profile.values()[value.key] == pytest.approx(value.value, abs=2 * value.error), value.key


def test_latencies_of_instructions_are_the_medians_of_their_classes(tmp_path):
    lines = ["FADD,4", "FFMA,6", "FMUL.FTZ,5", "DFMA,45", "LDS,29", "FSETP + SEL,9", "[emulated],300", "BAR.SYNC,20"]
    found = calibrate_micro("m", [written(tmp_path, ["sass,cycles", *lines])], MACHINE)
    values = {value.key: (value.value, value.error) for value in found.values}
    assert values == {"instructions.fp32": (5, 1), "instructions.fp64": (45, 0.5), "banks.latency": (28, 0.5)}
    assert "several instructions (2), class control (1)" in found.notes[0]


def test_what_is_written_is_read_back_with_its_sources(tmp_path):
    file = data_file("traces", "measured/instruction_latency.csv")
    found = calibrate_micro("titan-rtx", [file], load_machine("rtx-2080-ti"), "titan_rtx")
    (tmp_path / "m.toml").write_text(machine_toml(found.machine))
    again = load_machine(tmp_path / "m.toml")
    assert again == found.machine
    assert (again.instructions.fp32, again.instructions.fp64) == (4, 45)
    assert again.sources["instructions.fp64"].source == "instruction_latency.csv, titan_rtx"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["sass,cycles", "FADD,4", "FMUL,-1"], r"line 3: cycles = '-1': must be a number above 0"),
        (["sass,cycles", "FADD,four"], r"line 2: cycles = 'four': must be a number above 0"),
        (["sass,cycles", "# a comment", "FADD"], r"line 3: must have 2 columns"),
        (["sass,cycles", ",4"], r"line 2: sass: is empty"),
        (["sass,class,cycles", "X,fp31,4"], r"line 2: class = 'fp31': must be one of fp32.*; did you mean 'fp32'"),
        (["ptx,cycles", "add,4"], r"has no column 'sass'"),
        (["sass,clocks", "FADD,4"], r"has neither the columns sass and cycles"),
        (["sass,cycles"], r"has no rows"),
        (["sass,cycles,gpu", "FADD,4,a", "FADD,4,b"], r"has several GPUs: choose one of a, b"),
        (["sass,cycles", "[emulated],4"], r"has no row of an empty kernel, and none of a single instruction"),
        (["kernel,parameters,seconds", "empty,threads=32,1e-6"], r"line 2: parameters = .*must be threads=N;blocks=N"),
        (["kernel,parameters,seconds", "empty,threads=3.5;blocks=1,1e-6"], r"threads = '3.5': must be a whole number"),
        (["kernel,parameters,seconds", "empty,threads=32;blocks=1,nan"], r"line 2: seconds = 'nan': must be a number"),
    ],
)
def test_rows_that_can_not_be_understood_are_refused_in_a_line(tmp_path, lines, message):
    with pytest.raises(StudyError, match=message) as caught:
        calibrate_micro("m", [written(tmp_path, lines)], MACHINE)
    assert "\n" not in str(caught.value)


def test_the_function_takes_names_as_the_command_does():
    file = data_file("traces", "measured/instruction_latency.csv")
    found = calibrate(micro=file, base="v100", gpu="titan_v", name="titan-v")
    assert (found.machine.name, found.machine.instructions.fp64) == ("titan-v", 8)
    with pytest.raises(StudyError, match="needs base, and no other measurements"):
        calibrate(micro=file)
    with pytest.raises(StudyError, match="latency: is missing"):
        calibrate(base="v100")


@pytest.mark.parametrize("other", ["latency", "stream", "strides", "caches", "l2", "small"])
def test_no_other_measurement_may_stand_beside_those_of_micro_benchmarks(other):
    with pytest.raises(StudyError, match=r"micro = '.*m\.csv': needs base, and no other measurements"):
        calibrate(micro="m.csv", base="v100", **{other: "other.csv"})


def test_a_value_that_two_files_give_is_refused(tmp_path):
    paths = [written(tmp_path, ["sass,cycles", "FADD,4"], name) for name in ("a.csv", "b.csv")]
    with pytest.raises(StudyError, match=r"b\.csv: instructions\.fp32: another file also gives it"):
        calibrate_micro("m", paths, MACHINE)
