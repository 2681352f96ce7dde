"""Calibrating a GPU that is here, without one: a stand-in for CuPy whose launches take what a made-up machine takes."""

import sys

import pytest

from simtmm import Machine, load_machine
from simtmm.calibration import device
from simtmm.calibration.latency_levels import load_latency
from simtmm.calibration.streams.kernels import stream_bandwidth
from simtmm.calibration.streams.occupancy_curve import load_stream
from simtmm.errors import RecordingError
from simtmm.measurement import benchmarks
from simtmm.measurement.measure import measure
from simtmm.measurement.stream_operations import OPERATIONS
from simtmm.recorder.gpu.device import Device
from simtmm.recorder.gpu.timing import CLOCK_TICKS
from tests.recorder.conftest import needs_compiler
from tests.recorder.fake_cupy import FakeCupy

CLOCK_HZ = 1e9
L1_BYTES, L1_LATENCY = 1 << 14, 30
LOCAL_CYCLES, UPDATE_CYCLES, OVERHEAD_CYCLES = 23, 1.5, 2500

# What the GPU is, as the benchmarks see it; 4 groups and 2048 threads a group, as the stand-in says of itself.
GPU = Machine.from_dict(
    {
        "name": "gpu",
        "clock_hz": CLOCK_HZ,
        "ticks_per_cycle": 100,
        "cores": {"groups": 4, "cores_per_group": 64, "warp_width": 32, "max_threads_per_core": 32},
        "scheduling": {"block_launch": 300, "warp_launch": 6},
        "memory": {
            "latency": 500, "chunk_words": 32, "partitions": 64, "interleave": "hash", "service": 120,
            "stores": "blocking",
        },
    }
)  # fmt: skip


def cycles(kernel, p):
    """What a launch of a benchmark takes."""
    match kernel:
        case "pointer-chase":
            return p["steps"] * (L1_LATENCY if 4 * p["n"] * p["stride"] <= L1_BYTES else GPU.memory.latency)
        case "shared-chase":
            return 1000 + LOCAL_CYCLES * p["steps"]
        case "atomic-update":
            return 1000 + UPDATE_CYCLES * p["n"]
        case "vector-add":
            return OVERHEAD_CYCLES + 306 + 500 + 500  # a load and a store, of which the read kernel tells nothing
        case "stream":
            blocks = min(2048 // p["threads"], 200_000 // p["shared_memory"])
            moved = OPERATIONS[p["operation"]].streams * 8 * p["n"]
            return moved / stream_bandwidth(GPU, p["operation"], p["threads"], blocks) * CLOCK_HZ
    return 5000


@pytest.fixture
def cupy(monkeypatch):
    """A GPU like that, and little to measure on it."""
    fake = FakeCupy()
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr(benchmarks, "CHASE_KIB", (4, 8, 12, 16, 64, 128, 256))
    monkeypatch.setattr(benchmarks, "CHASE_STEPS", 20)
    monkeypatch.setattr(benchmarks, "CHASE_ROUNDS", 1)
    monkeypatch.setattr(benchmarks, "STREAMS", ("read",))
    monkeypatch.setattr(benchmarks, "STREAM_ELEMENTS", 4096)
    monkeypatch.setattr(benchmarks, "SHARED_STEPS", (10, 30))
    monkeypatch.setattr(benchmarks, "UPDATES", (100, 300))

    def timed(kernel, parameters, **options):
        taken = {"simtmm_clock": CLOCK_TICKS / CLOCK_HZ, "simtmm_hold": 0.0}
        fake.seconds = lambda name, *shape: taken.get(name, cycles(kernel, parameters) / CLOCK_HZ)
        return measure(kernel, parameters, **options)

    monkeypatch.setattr(device, "measure", timed)
    return fake


@needs_compiler
def test_a_gpu_is_measured_and_what_it_is_comes_back(cupy, tmp_path):
    result = device.calibrate_device(0, keep=tmp_path, repeat=1)
    machine = result.machine
    assert machine.name == "Fake GPU"
    assert machine.clock_hz == pytest.approx(CLOCK_HZ, rel=1e-3)  # the clock's kernel looks every thousand ticks
    assert (machine.cores.groups, machine.cores.warp_width, machine.warps_per_group) == (4, 32, 64)
    # Cycles are counted with the clock that was measured, a thousandth off; a table has hundredths.
    assert machine.memory.latency == pytest.approx(500, rel=2e-3)
    assert machine.memory.l1.latency == pytest.approx(L1_LATENCY, rel=2e-3)
    assert machine.memory.l1.sets * machine.memory.l1.ways * machine.chunk_bytes == L1_BYTES
    assert machine.memory.atomic_service == pytest.approx(UPDATE_CYCLES, rel=2e-3)
    assert any(f"a shared-memory access takes {LOCAL_CYCLES:.1f} cycles" in note for note in result.notes)
    # 10 %: of seven points each, and a launch of blocks that the fit tells from L to some per cent.
    assert machine.scheduling.block_launch == pytest.approx(300, rel=0.1)
    assert machine.scheduling.launch_overhead == pytest.approx(OVERHEAD_CYCLES, rel=0.05)
    # 3 %: on 4 groups a chunk more or less at a partition is some per cent of the bandwidth.
    assert result.curve.mean_error() < 0.03
    assert machine.sources["memory.latency"].source == "pointer chase on Fake GPU"
    assert machine.sources["memory.atomic_service"].source == "atomic-update on Fake GPU"
    # What was measured is kept, in the form that `--latency` and `--stream` take.
    assert load_latency(tmp_path / "latency.csv").sizes[0] == 4096
    assert {point.threads for point in load_stream(tmp_path / "stream.csv")} >= {4 * 32, 4 * 2048}
    # And the machine is one that every other command takes.
    result.save(tmp_path / "m.toml")
    assert load_machine(tmp_path / "m.toml") == machine


@needs_compiler
def test_a_benchmark_that_fails_is_reported_and_the_rest_serves(cupy, monkeypatch):
    honest = device.measure

    def measure_some(kernel, parameters, **options):
        if kernel == "atomic-update":
            raise RecordingError("kernel atomic-update: out of memory")
        return honest(kernel, parameters, **options)

    monkeypatch.setattr(device, "measure", measure_some)
    result = device.calibrate_device(0, "mine", repeat=1)
    assert result.machine.name == "mine"
    assert result.machine.memory.atomic_service == result.machine.memory.service
    assert "benchmark atomic-100 left out: kernel atomic-update: out of memory" in result.notes


@pytest.mark.parametrize("number", [-1, 1, 7])
def test_a_device_that_is_not_there_is_refused(number, cupy):
    with pytest.raises(RecordingError, match=rf"device {number}: must be from 0 to 0: CUDA finds 1"):
        device.calibrate_device(number)


@pytest.mark.parametrize(
    ("name", "more"),
    [("a100-80", {}), ("h200", {"ReservedSharedMemoryPerBlock": 1024}), ("t4", {}), ("p100", {}), ("v100", {})],
)
def test_a_gpu_hands_its_resources_out_as_the_shipped_machine_does(name, more, cupy):
    shipped = load_machine(name)
    major, minor = map(int, shipped.compute_capability.split("."))
    cupy.attributes |= {
        "ComputeCapabilityMajor": major, "ComputeCapabilityMinor": minor, "MaxRegistersPerMultiprocessor": 65536,
        "MaxSharedMemoryPerMultiprocessor": shipped.resources.shared_memory, **more,
    }  # fmt: skip
    assert device.device_machine(Device(cupy), "gpu").resources == shipped.resources


def test_without_a_gpu_a_line_says_so(cupy):
    cupy.devices = 0
    with pytest.raises(RecordingError, match="CuPy finds no GPU"):
        device.calibrate_device(0)
