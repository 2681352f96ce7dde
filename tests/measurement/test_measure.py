"""Measuring on a GPU, without one: a stand-in for CuPy (tests/recorder/fake_cupy.py) whose clock is the test's."""

import json
import sys

import numpy as np
import pytest

from simtmm.calibration.latency_levels import load_latency
from simtmm.calibration.streams.occupancy_curve import load_stream
from simtmm.errors import KernelError, RecordingError, StudyError
from simtmm.kernel import load_kernel
from simtmm.measurement import benchmarks
from simtmm.measurement import campaign as everything
from simtmm.measurement.measure import load_measurement, machine_name, measure, save_measurement
from simtmm.measurement.micro.measured import load_measured
from simtmm.measurement.micro.programs import by_file
from simtmm.measurement.timings import load_timings
from simtmm.recorder.gpu.device import Device
from simtmm.recorder.gpu.timing import CLOCK_TICKS
from simtmm.result import Measurement, Quartiles
from tests.recorder.build import DEVICE, host
from tests.recorder.conftest import kernel_folder as kernel_folder
from tests.recorder.conftest import needs_compiler
from tests.recorder.conftest import probe_flags as probe_flags
from tests.recorder.fake_cupy import _Array as FakeArray
from tests.recorder.ptx_cupy import PtxCupy

CLOCK_HZ = 2e9

pytestmark = needs_compiler


@pytest.fixture
def cupy(monkeypatch):
    fake = PtxCupy()
    monkeypatch.setitem(sys.modules, "cupy", fake)
    fake.seconds = lambda name, *shape: CLOCK_TICKS / CLOCK_HZ if name == "simtmm_clock" else 1e-6
    return fake


def taking(cupy, seconds):
    """Launches of `f` take the times of an iterator, one after another; the clock's kernel what it should."""
    clock, times = cupy.seconds, iter(seconds)
    cupy.seconds = lambda name, *shape: next(times) if name == "f" else clock(name, *shape)


def microseconds(quartiles):
    return tuple(1e6 * each for each in (quartiles.low, quartiles.median, quartiles.high))


def ours(cupy, name="f"):
    return [launch for launch in cupy.launches if launch[0] == name]


# --- a kernel ---------------------------------------------------------------------------------------------------------

TWO_LAUNCHES = {
    "launches": """
    for step in range(2):
        yield Launch("f", ("a", step), grid=2 - step, block=4, shared_memory_bytes=1000 * step)
    """,
    "check": "assert after['a'].tolist() == [2, 1, 0, 0]",
}
ADDS = "__global__ void f(int* a, int step) { if (threadIdx.x + blockIdx.x == 0) { a[0] += 1; a[1] = step; } }"


def test_times_are_quartiles_of_the_repeated_runs_of_each_launch_and_of_the_whole(kernel_folder, cupy):
    plan = [7, 7]  # the first run, which says what there is to launch
    rehearsals = [9, 9] * 2
    warm = [8, 8]
    single = [1, 10, 2, 20, 3, 30, 4, 40, 5, 50]  # five runs of two launches
    whole = [6, 60] * 3 + [1, 1] * 2
    taking(cupy, [1e-6 * each for each in (*plan, *rehearsals, *warm, *single, *whole)])
    measurement = measure(kernel_folder(DEVICE + ADDS, host(**TWO_LAUNCHES)), repeat=5, warm_up=1)
    first, second = measurement.launches
    assert microseconds(first.seconds) == pytest.approx((2, 3, 4))
    assert microseconds(second.seconds) == pytest.approx((20, 30, 40))
    assert microseconds(measurement.total) == pytest.approx((22, 33, 44))
    assert microseconds(measurement.elapsed) == pytest.approx((2, 66, 66))
    assert measurement.seconds == measurement.total.median
    assert len(ours(cupy)) == 2 * (1 + 2 + 1 + 5 + 5)


def test_each_run_begins_with_the_inputs_and_the_last_answer_is_checked(kernel_folder, cupy):
    measure(kernel_folder(DEVICE + ADDS, host(**TWO_LAUNCHES)), repeat=3)  # adds 2 in each run: 2 only if it began at 0


@pytest.mark.parametrize("memory", [1 << 30, 2500], ids=["a copy on the device", "no room for one"])
def test_inputs_come_from_the_device_or_where_that_is_full_from_the_host(memory, kernel_folder, cupy):
    cupy.memory = memory
    measure(kernel_folder(DEVICE + ADDS, host(**TWO_LAUNCHES)), repeat=2, cold=False)
    assert cupy.taken == 0


def test_a_wrong_answer_has_no_time(kernel_folder, cupy):
    folder = kernel_folder(DEVICE + ADDS, host(**{**TWO_LAUNCHES, "check": "raise WrongAnswer('a is odd')"}))
    with pytest.raises(RecordingError, match="kernel probe: wrong answer: a is odd"):
        measure(folder)


def test_an_answer_that_is_wrong_only_when_repeated_has_no_time_either(kernel_folder, cupy):
    device = "__device__ int runs;\n__global__ void f(int* a) { a[0] = runs++; }"
    with pytest.raises(RecordingError, match="wrong answer: it is 7"):
        measure(
            kernel_folder(DEVICE + device, host(check="assert after['a'][0] == 0, f'it is {after[\"a\"][0]}'")),
            repeat=1,
            warm_up=3,
        )


def test_what_the_host_program_writes_and_decides_between_launches_is_repeated(kernel_folder, cupy):
    launches = """
    while memory["a"][0] < 3:
        memory["a"][1] = 10 * memory["a"][0] + 1
        yield Launch("f", ("a",), grid=1, block=1)
    """
    device = "__global__ void f(int* a) { a[0] += 1; a[2] += a[1]; }"
    check = "assert after['a'].tolist() == [3, 21, 1 + 11 + 21, 0]"
    measurement = measure(kernel_folder(DEVICE + device, host(launches=launches, check=check)), repeat=2)
    assert len(measurement.launches) == 3


def test_the_plain_build_is_timed(cupy):
    measure("vector-add", {"n": 100}, repeat=1)
    ((source, options),) = {
        (source, options) for source, options in zip(cupy.sources, cupy.options, strict=True) if "vector_add" in source
    }
    assert "SIMTMM_LD" not in source
    assert "SIMTMM_RECORD" not in source
    assert "LD_ASYNC(" in source
    assert "--fmad=false" not in options  # as one would compile it


def test_shared_memory_that_is_claimed_is_taken_so_that_occupancy_is_as_the_launch_says(cupy):
    measurement = measure("stream", {"n": 256, "shared_memory": 100_000}, repeat=1)
    assert {launch[3] for launch in ours(cupy, "stream_triad")} == {100_000}
    assert [(launch.shared_memory_bytes, launch.blocks_per_core_group) for launch in measurement.launches] == [
        (100_000, 2)
    ]
    cupy.static_shared_bytes = 40_000
    cupy.launches.clear()
    measure("stream", {"n": 256, "shared_memory": 100_000}, repeat=1)
    assert {launch[3] for launch in ours(cupy, "stream_triad")} == {60_000}
    with pytest.raises(KernelError, match="shared_memory_bytes = 300000: Fake GPU gives a block 200000"):
        measure("stream", {"n": 256, "shared_memory": 300_000}, repeat=1)


def test_a_kernel_holds_the_device_before_each_timed_run_until_the_host_has_told_it_all(kernel_folder, cupy):
    measure(kernel_folder(DEVICE + ADDS, host(**TWO_LAUNCHES)), repeat=2, warm_up=0)
    names = [name for name, *_ in cupy.launches if name in ("f", "simtmm_hold")]
    assert names == ["f"] * 2 * 3 + ["simtmm_hold", "f", "f"] * 4


def test_a_host_program_that_writes_between_launches_is_not_in_their_time(kernel_folder, cupy, monkeypatch):
    set_array = FakeArray.set

    def slow(array, given):
        cupy.now += 1.0
        set_array(array, given)

    monkeypatch.setattr(FakeArray, "set", slow)
    launches = """
    for step in range(2):
        memory["a"][1] = step + 1
        yield Launch("f", ("a",), grid=1, block=1)
    """
    measurement = measure(kernel_folder(DEVICE + "__global__ void f(int* a) {}", host(launches=launches)), repeat=2)
    assert microseconds(measurement.total) == pytest.approx((2, 2, 2))


@pytest.mark.parametrize(("cold", "fills"), [(True, 1), (False, 0)])
def test_caches_are_emptied_by_writing_more_than_they_hold(cold, fills, cupy, monkeypatch):
    filled = []
    monkeypatch.setattr("tests.recorder.fake_cupy._Array.fill", lambda array, value: filled.append(len(array)))
    measure("vector-add", {"n": 100}, repeat=2, warm_up=0, cold=cold)
    assert filled == [4 * cupy.attributes["L2CacheSize"]] * (fills * (2 + 2 * 2))  # rehearsals, and what is timed


def test_a_measurement_says_on_what_and_at_which_clock(cupy):
    measurement = measure("vector-add", {"n": 100}, repeat=1)
    assert measurement.device["device"] == "Fake GPU"
    assert measurement.device["clock_hz"] == pytest.approx(CLOCK_HZ, rel=1e-3)  # the kernel looks every thousand ticks
    assert measurement.device["core_groups"] == 4
    assert (measurement.kernel, measurement.parameters["n"], measurement.machine) == ("vector-add", 100, "Fake GPU")
    assert len(measurement.source) == 20


@pytest.mark.parametrize(
    "line",
    [
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (builder@host)",
    ],
)
def test_the_driver_is_known_where_nvidia_smi_is_not(line, cupy, tmp_path, monkeypatch):
    def missing(*arguments, **options):
        raise FileNotFoundError

    (tmp_path / "version").write_text(f"{line}\nGCC version:  gcc version 12.3.0\n")
    monkeypatch.setattr("simtmm.recorder.gpu.device.DRIVER", tmp_path / "version")
    monkeypatch.setattr("simtmm.recorder.gpu.device.run", missing)
    assert Device(cupy).facts()["driver_version"] == "550.54.15"


@pytest.mark.parametrize(
    ("device", "name"), [("NVIDIA H200", "H200"), ("NVIDIA GeForce GTX 480", "GTX 480"), ("Other", "Other")]
)
def test_a_gpu_goes_by_its_name_without_its_makers(device, name):
    assert machine_name(device) == name


@pytest.mark.parametrize(
    "options", [{"repeat": 0}, {"repeat": 1.5}, {"repeat": True}, {"warm_up": -1}], ids=lambda entry: str(entry)
)
def test_numbers_of_runs_that_make_no_sense_are_refused(options, cupy):
    with pytest.raises(RecordingError, match=f"{next(iter(options))} = .*: must be a whole number of at least"):
        measure("vector-add", **options)


def test_without_a_gpu_a_line_is_reported(cupy):
    cupy.devices = 0
    with pytest.raises(RecordingError, match="CuPy finds no GPU"):
        measure("vector-add")


# --- files ------------------------------------------------------------------------------------------------------------


def test_a_measurement_is_the_same_after_a_file_and_is_read_as_a_measured_time(tmp_path, cupy):
    measurement = measure("vector-add", {"n": 100}, repeat=2, machine="h200")
    save_measurement(measurement, tmp_path / "m.json")
    assert (
        load_measurement(tmp_path / "m.json")
        == Measurement.from_dict(json.loads(json.dumps(measurement.to_dict())))
        == measurement
    )
    (timing,) = load_timings(tmp_path / "m.json")
    assert (timing.kernel, timing.machine, timing.seconds) == ("vector-add", "h200", measurement.seconds)
    assert timing.parameters == measurement.parameters


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": 2}', '{"version": 1, "launches": []}', "{"], ids=lambda text: repr(text)
)
def test_a_file_that_is_no_measurement_is_reported_so(text, tmp_path):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(StudyError, match=r"m\.json: is (not a measurement|not JSON)"):
        load_measurement(tmp_path / "m.json")


def test_quartiles_are_numpys():
    for count in (1, 2, 3, 4, 7, 50):
        seconds = np.random.default_rng(count).random(count)
        result = Quartiles.of(seconds.tolist())
        # Sums of two products: some roundings of 1e-16 apart.
        assert (result.low, result.median, result.high) == pytest.approx(
            tuple(np.percentile(seconds, [25, 50, 75])), rel=1e-14
        )


@pytest.mark.parametrize("three", [(-1.0, 0.0, 1.0), (1.0, 0.5, 2.0), (0.0, 1.0, float("nan"))])
def test_quartiles_ascend_from_zero(three):
    with pytest.raises(ValueError, match="must be ascending"):
        Quartiles(*three)


# --- all of it --------------------------------------------------------------------------------------------------------

QUIET = host(arrays='{"a": np.zeros(p.n, np.int32)}')
RACY = QUIET.replace('"""A probe."""', '"""A probe.\n\nRacy: it reads what others write.\n"""')
PROBE = DEVICE + "__global__ void f(int* a) { ST(a, 0, LD(a, 1)); }"


@pytest.fixture
def few(monkeypatch, kernel_folder):
    """Little to measure: two kernels, and a point or two of each benchmark."""
    folders = {"quiet": kernel_folder(PROBE, QUIET, "quiet"), "racy": kernel_folder(PROBE, RACY, "racy")}
    monkeypatch.setattr(everything, "kernel_folders", lambda: folders)
    monkeypatch.setattr(benchmarks, "CHASE_KIB", (4, 8))
    monkeypatch.setattr(benchmarks, "CHASE_STEPS", 20)
    monkeypatch.setattr(benchmarks, "STREAM_ELEMENTS", 4096)
    monkeypatch.setattr(benchmarks, "SHARED_STEPS", (10, 20))
    monkeypatch.setattr(benchmarks, "UPDATES", (10, 20))
    monkeypatch.setattr(benchmarks, "STREAM_BLOCKS", ((256, 1), (1024, 2)))
    monkeypatch.setattr(everything, "MICRO_SCALE", 1)
    monkeypatch.setattr(everything, "by_file", lambda capability: {"barriers.cu": by_file()["barriers.cu"]})
    return folders


def of(outcomes, kind):
    return {outcome.name: outcome.status for outcome in outcomes if outcome.kind == kind}


def test_everything_is_measured_in_one_go_and_is_there_the_next_time(few, tmp_path, cupy):
    outcomes = everything.measure_all(tmp_path, minutes=8, repeat=2)
    assert {outcome.status for outcome in outcomes} == {"done"}
    assert of(outcomes, "parity") == of(outcomes, "compiled") == {"quiet": "done", "racy": "done"}
    place = tmp_path / "fake-gpu"
    compiled = json.loads((place / "compiled" / "quiet.json").read_text())
    assert compiled["equal"]
    assert (compiled["cpu"]["recorder"], compiled["gpu"]["recorder"]) == ("compiled", "gpu")
    assert load_measurement(place / "times" / "quiet-compiled.json").launches[0].kernel == "f"
    assert of(outcomes, "micro") == {"barriers": "done"}
    assert json.loads((place / "device.json").read_text())["device"] == "Fake GPU"
    parity = json.loads((place / "parity" / "racy.json").read_text())
    assert (parity["equal"], parity["racy"]) == (True, True)
    assert parity["cpu"]["digest"] == parity["gpu"]["digest"]
    assert {path.stem for path in (place / "times").iterdir()} == set(of(outcomes, "times"))
    assert load_measurement(place / "times" / "quiet-n16.json").parameters["n"] == 16
    before = {path: path.stat().st_mtime_ns for path in place.glob("*/*.json")}
    again = everything.measure_all(tmp_path, minutes=8, repeat=2)
    assert {outcome.status for outcome in again} == {"there"}
    assert {path: path.stat().st_mtime_ns for path in place.glob("*/*.json")} == before


def test_only_some_kinds_are_measured_where_they_are_named(few, tmp_path, cupy):
    outcomes = everything.measure_all(tmp_path, minutes=8, repeat=2, only=["micro", "compiled"])
    assert [(outcome.kind, outcome.status) for outcome in outcomes] == [("micro", "done"), *[("compiled", "done")] * 2]
    with pytest.raises(StudyError, match=r"only = 'micros': must be one or more of parity, .*did you mean 'micro'"):
        everything.measure_all(tmp_path, minutes=8, only=["micros"])


def test_the_benchmarks_stand_in_tables_that_calibration_reads(few, tmp_path, cupy):
    def seconds(name, grid, block, shared):
        if name == "chase":
            return 1e-6  # for all steps
        return CLOCK_TICKS / CLOCK_HZ if name == "simtmm_clock" else 2e-6

    cupy.seconds = seconds
    everything.measure_all(tmp_path, minutes=8, repeat=2, machine="Mine 2")
    place = tmp_path / "mine-2"
    curve = load_latency(place / "latency.csv")
    assert curve.sizes.tolist() == [4096, 8192]
    # 1 us at 2 GHz is 2000 cycles, over 32 rounds of 32 and of 64 elements; a table has a hundredth of a cycle.
    assert curve.latencies == pytest.approx([2000 / 1024, 2000 / 2048], abs=0.01)
    points = load_stream(place / "stream.csv")
    assert [(point.block_size, point.blocks_per_group) for point in points] == [(256, 1), (1024, 2)]
    # The triad moves four arrays of 4096 elements of 8 bytes in 2 us; a table has a tenth of a GB/s.
    assert points[0].measured["triad"] == pytest.approx(4 * 4096 * 8 / 2e-6, abs=0.05e9)
    assert [point.occupancy for point in points] == pytest.approx([256 / 2048, 1.0])


def test_micro_kernels_stand_in_a_table_that_takes_what_a_longer_launch_takes_more(few, tmp_path, cupy, monkeypatch):
    """A trip of a block of n warps takes 8 n cycles at 2 GHz, so a barrier takes n; a launch takes a microsecond."""
    clock, launched = cupy.seconds, []

    def seconds(name, grid, block, shared):
        if name != "barriers":
            return clock(name, grid, block, shared)
        launched.append(block)
        short, long = by_file()["barriers.cu"][0].trips
        in_a_run = (len(launched) - 1) % (1 + 2 * len(by_file()["barriers.cu"]))  # from the one before all rows
        return 1e-6 + (long if in_a_run and in_a_run % 2 == 0 else short) * 8 * (block[0] // 32) / CLOCK_HZ

    cupy.seconds = seconds
    monkeypatch.setattr(everything, "kernel_folders", dict)
    monkeypatch.setattr(everything, "benchmarks", lambda shared_memory: ())
    everything.measure_all(tmp_path, minutes=8, repeat=2, machine="Mine 2")
    place = tmp_path / "mine-2"
    rows = by_file()["barriers.cu"]
    assert {path.name for path in (place / "micro").iterdir()} == {"barriers.json"}
    assert load_measurement(place / "micro" / "barriers.json").parameters["scale"] == 1
    warps = {row.name: row.threads / 32 for row in rows}
    assert load_measured(place / "micro.csv") == pytest.approx(warps, rel=1e-3)  # of four digits
    assert (place / "micro.csv").read_text().splitlines()[1] == "mine-2,2000.0,barrier-1-warp,a barrier of a block,1,"


def test_nothing_is_begun_when_the_time_is_up_and_the_rest_is_measured_the_next_time(few, tmp_path, cupy):
    ticking = iter(range(0, 10**6, 30))  # each look at the clock is half a minute later
    outcomes = everything.measure_all(tmp_path, minutes=4, repeat=1, clock=lambda: next(ticking))
    statuses = [outcome.status for outcome in outcomes]
    done = statuses.count("done")
    assert 0 < done < len(statuses)
    assert statuses == ["done"] * done + ["left"] * (len(statuses) - done)
    rest = everything.measure_all(tmp_path, minutes=8, repeat=1)
    assert [outcome.status for outcome in rest] == ["there"] * done + ["done"] * (len(statuses) - done)


def test_a_size_that_would_take_longer_than_what_is_left_is_not_begun(few, tmp_path, cupy, monkeypatch):
    now = [0.0]

    def slow(kernel, parameters, **options):
        now[0] += 100.0 if getattr(kernel, "name", "") == "quiet" else 0.0
        return measure(kernel, parameters, **options)

    monkeypatch.setattr(everything, "measure", slow)
    outcomes = everything.measure_all(tmp_path, minutes=5, repeat=1, clock=lambda: now[0])
    # 100 seconds are gone, 200 are left, and four times the size is expected to take 600.
    sizes = {"quiet-n4": "done", "quiet-n16": "left", "quiet-n64": "left"}
    assert of(outcomes, "times") == {
        **sizes, "racy-n4": "done", "racy-n16": "done", "racy-n64": "done",
        "quiet-compiled": "done", "racy-compiled": "done",
    }  # fmt: skip


def test_a_trace_that_differs_is_reported_where_unless_the_kernel_says_that_it_races(
    few, kernel_folder, tmp_path, cupy, monkeypatch
):
    honest = everything.record

    def other(kernel, parameters, on="cpu"):
        return honest(few["other"] if on == "gpu" else kernel, parameters, on)

    few["other"] = kernel_folder(PROBE.replace("LD(a, 1)", "LD(a, 2)"), QUIET, "other")
    monkeypatch.setattr(everything, "record", other)
    outcomes = everything.measure_all(tmp_path, minutes=8, repeat=1)
    parity = {outcome.name: outcome for outcome in outcomes if outcome.kind == "parity"}
    assert (parity["quiet"].status, parity["racy"].status) == ("differs", "done")
    assert parity["racy"].note.startswith("racy, and different on the GPU: event 0: ")
    written = json.loads((tmp_path / "fake-gpu" / "parity" / "quiet.json").read_text())
    assert (written["equal"], written["racy"]) == (False, False)
    assert written["first_difference"] == parity["quiet"].note
    assert "'value': 516} and" in parity["quiet"].note
    assert "'value': 520}" in parity["quiet"].note


def test_what_fails_is_reported_written_and_tried_again(few, tmp_path, cupy):
    kernel = few["racy"] / "kernel.cu"
    right = kernel.read_text()
    # Right behind the array: without a recorder the kernel runs in this process, which has no memory much farther.
    kernel.write_text(right.replace("LD(a, 1)", "LD(a, 16)"))
    outcomes = everything.measure_all(tmp_path, minutes=8, repeat=1)
    assert of(outcomes, "parity") == {"quiet": "done", "racy": "failed"}
    failed = tmp_path / "fake-gpu" / "parity" / "racy.failed.json"
    assert "out of bounds" in json.loads(failed.read_text())["error"]
    kernel.write_text(right)
    again = everything.measure_all(tmp_path, minutes=8, repeat=1)
    assert of(again, "parity") == {"quiet": "there", "racy": "done"}
    assert not failed.exists()


@pytest.mark.parametrize(
    ("docstring", "racy"),
    [
        ("Sort.\n\nRacy: blocks.", True),
        ("Sort. Racy: blocks.", True),
        ("Racy: all of it.", True),
        ("Rank.\n\nUnordered: by atomics.", True),
        ("Not Racy: at all.", False),
        ("Nothing races.", False),
    ],
)
def test_a_kernel_is_racy_if_a_sentence_of_its_docstring_begins_so(docstring, racy, kernel_folder):
    folder = kernel_folder(DEVICE, host().replace("A probe.", docstring.replace("\n", "\\n")))
    assert everything.is_racy(load_kernel(folder)) == racy


def test_without_a_gpu_nothing_is_written(few, tmp_path, cupy):
    cupy.devices = 0
    with pytest.raises(RecordingError, match="CuPy finds no GPU"):
        everything.measure_all(tmp_path, minutes=8)
    assert list(tmp_path.glob("fake-gpu*")) == []
