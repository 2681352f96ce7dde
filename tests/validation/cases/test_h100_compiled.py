"""Compiled kernels on the H100 PCIe: measured points, programs that are right, and what is promised of them."""

from collections import Counter

import pytest

from simtmm import load_machine, simulate
from simtmm.errors import SimtmmError, StudyError
from simtmm.kernel import Launch
from simtmm.measurement.timings import Timing, load_timings
from simtmm.model.series import SIMULATED
from simtmm.program import open_program
from simtmm.validation.cases import h100_compiled, ladder
from simtmm.validation.cases.measured_files import measured_file
from simtmm.validation.compiled.programs import CASES, program
from tests.cuda.compilers.conftest import needs_machine_code

MACHINE = load_machine(h100_compiled.MACHINE)
SMALLEST = {
    "empty": {"threads": 32, "blocks": 1},
    "ffma": {"threads": 32, "blocks": 2, "iterations": 2},
    "gemm": {"n": 24, "side": 16},
    "mvt": {"n": 24, "side": 16},
    "syrk": {"n": 24, "side": 16},
    "vector-add": {"n": 1000},
    "copy": {"n": 32},
    "transpose": {"n": 32},
    "scalar-product": {"vectors": 130, "elements": 1100},
    "scan-short": {"n": 2048, "length": 512},
    "lud": {"n": 40},
    "convolution-3d": {"n": 16, "side": 8},
    "walsh": {"log2data": 12, "log2kernel": 5},
    "sort-short": {"n": 2048, "length": 128},
    **{f"sum_{name}": {"n": 2048} for name in ("divergent", "compact", "sequential", "while_loading", "last_warp")},
    "sum_many": {"n": 8192},
    **{name: {"n": 48} for name in ("add", "add_by_columns", "product", "product_in_tiles")},
    "histogram": {"n": 1000},
    "histogram_of_blocks": {"n": 1000},
    "read_parts": {"kilobytes": 1024, "blocks": 3, "underway": 2},
    "quarter": {"n": 1000},
    "quarter_in_trips": {"n": 1000, "threads": 64, "blocks": 3, "trips": 2},
}
LADDER = {time.kernel for time in load_timings(measured_file(ladder.FILE))}


def test_every_measured_point_is_there():
    times = h100_compiled.measured_times()
    assert Counter(time.kernel for time in times) == {
        "empty": 561, "ffma": 130, "syrk": 27, "scalar-product": 10, "transpose": 7, "scan-short": 14, "lud": 9,
        "gemm": 27, "mvt": 27, "vector-add": 11, "convolution-3d": 27, "walsh": 15, "sort-short": 14,
    }  # fmt: skip
    assert {time.machine for time in times} == {h100_compiled.MACHINE}
    others = {"copy", "read_parts", "quarter", "quarter_in_trips"}
    assert {time.kernel for time in times} | LADDER | others == CASES.keys() == SMALLEST.keys()


def test_the_points_that_are_simulated_and_those_of_a_sample_are_these(monkeypatch):
    monkeypatch.setattr(h100_compiled, "_tables", lambda times, watch: Counter(time.kernel for time in times))
    assert h100_compiled.reproduce() == {
        "empty": 36, "ffma": 30, "syrk": 24, "scalar-product": 10, "transpose": 4, "scan-short": 14, "lud": 9,
        "gemm": 18, "mvt": 27, "vector-add": 9, "convolution-3d": 15, "walsh": 7, "sort-short": 14,
    }  # fmt: skip
    assert h100_compiled.sample() == {
        "empty": 6, "ffma": 13, "syrk": 3, "scalar-product": 2, "transpose": 1, "scan-short": 4, "lud": 2, "gemm": 3,
        "mvt": 6, "vector-add": 3, "convolution-3d": 3, "walsh": 3, "sort-short": 4,
    }  # fmt: skip


def test_points_of_calibration_stand_apart():
    times = [time for time in h100_compiled.measured_times() if time.kernel in ("empty", "ffma")]
    tables = Counter(h100_compiled._suite(time) for time in times)
    assert tables == {
        "h100-empty-calibration": len(h100_compiled.EMPTY_CALIBRATION), "h100-empty": 556,
        "h100-ffma-calibration": 2, "h100-ffma": 128,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("bits", "steps", "part"),
    [(11, [], (11, 1, 512, 8192)), (13, [2048], (11, 4, 512, 8192)), (14, [4096, 1024], (10, 16, 256, 4096))],
)
def test_a_transform_takes_two_bits_a_step_until_a_block_holds_what_is_left(bits, steps, part):
    """The steps' strides; of the part its bits, blocks, threads and bytes of shared memory."""
    found = CASES["walsh"](bits, 3).launches
    left, blocks, threads, shared = part
    blocks_of_steps = 2**bits // 1024  # 256 threads take four elements each
    of = {
        name: [
            *(Launch("walsh_step", (name, stride), blocks_of_steps, 256) for stride in steps),
            Launch("walsh_part", (name, left), blocks, threads, shared_memory_bytes=shared),
        ]
        for name in ("numbers", "others")
    }
    product = Launch("walsh_product", ("numbers", "others", 2**bits), 128, 256)
    assert list(found) == [*of["numbers"], *of["others"], product, *of["numbers"]]


def test_a_kernel_that_was_not_measured_is_refused():
    with pytest.raises(StudyError, match=r"kernel 'gem': has no measured cases.*gemm"):
        program("gem", {})


@needs_machine_code
@pytest.mark.parametrize("kernel", CASES)
def test_a_program_runs_as_machine_code_and_its_answer_is_right(kernel):
    """Sizes that are no multiples of a block, where the kernel takes them; a wrong answer would raise."""
    trace = open_program(program(kernel, SMALLEST[kernel]), machine=MACHINE, form="compiled").trace
    assert {schedule.instructions for schedule in trace.info.schedules} == {"machine code"}


@needs_machine_code
def test_a_wrong_answer_would_be_noticed():
    wrong = program("vector-add", {"n": 1000})
    wrong.host.case(None).expected["sum"][34] += 1
    with pytest.raises(SimtmmError, match=r"sum\[34\] is .*, should be "):
        open_program(wrong, machine=MACHINE, form="compiled")


@needs_machine_code
def test_an_iteration_of_dependent_multiply_adds_takes_what_was_measured():
    """131 instructions, some 524 cycles at 1.755 GHz: within 2 %, and a step of the measured times, 32 ns."""

    def cycles(iterations):
        result = program("ffma", {"threads": 32, "blocks": 2, "iterations": iterations})
        return simulate(MACHINE, open_program(result, machine=MACHINE, form="compiled").on(MACHINE).workload).cycles

    measured = {
        int(time.parameters["iterations"]): time.seconds * MACHINE.clock_hz
        for time in h100_compiled.measured_times()
        if time.kernel == "ffma" and (time.parameters["threads"], time.parameters["blocks"]) == ("32", "2")
    }
    longer = measured[40] - measured[10]
    assert abs(cycles(40) - cycles(10) - longer) <= 0.02 * longer + 32e-9 * MACHINE.clock_hz


@needs_machine_code
@pytest.mark.parametrize("suite", h100_compiled.SUITES)
def test_few_points_are_within_what_is_promised(sampled, suite):
    table = {table.name: table for table in sampled("h100-compiled")}[suite]
    assert table.errors(SIMULATED).mean <= 1.5 * table.promised[SIMULATED]  # of a few points


@needs_machine_code
def test_an_empty_kernel_takes_as_long_as_its_places_or_its_starts_do():
    """Fewer than four blocks of 544 threads fit a group: 16 % of 32 more threads are 26 % of time."""

    def simulated_times(threads):
        time = Timing("empty", "h100-pcie", 0, {"threads": str(threads), "blocks": "4096"})
        return h100_compiled.times(time, MACHINE)[SIMULATED]

    assert simulated_times(32) == pytest.approx(simulated_times(256), rel=0.03)
    assert simulated_times(544) > 1.2 * simulated_times(512)


def test_a_table_has_each_of_its_suites_words_and_the_points_under_its_name():
    suites = {
        name: h100_compiled.Suite(f"title {name}", (), 0.25 * len(name), (f"note {name}",)) for name in ("a", "bc")
    }
    points = {name: [h100_compiled.Measured(name, 7.0, {})] for name in ("bc", "a", "other")}
    made = h100_compiled.suite_tables(suites, points, "what was calibrated", "whence", "which machine")
    assert [
        (
            each.name, each.title, each.promised, each.notes, each.points, each.calibrated, each.origin, each.machine,
            each.quantity, each.unit,
        )
        for each in made
    ] == [
        (
            name, f"title {name}", {SIMULATED: promised}, (f"note {name}",), tuple(points[name]),
            "what was calibrated", "whence", "which machine", "time", "us",
        )
        for name, promised in (("a", 0.25), ("bc", 0.5))
    ]  # fmt: skip
