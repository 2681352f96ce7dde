"""Calibration of a GPU in this computer: run the benchmarks on it, and fit a machine to their results."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from simtmm.calibration.calibrate import CHUNK_WORDS, CORES_PER_GROUP, LEAST_TICKS, WARP_WIDTH, calibrate
from simtmm.calibration.chase_check import CHASE
from simtmm.calibration.latency_levels import load_latency
from simtmm.calibration.streams.occupancy_curve import load_stream
from simtmm.calibration.values import Calibration, Value, with_sources, with_values
from simtmm.errors import KernelError, RecordingError, StudyError
from simtmm.machine import Machine
from simtmm.measurement.benchmarks import benchmarks, latency_table, stream_table, write_lines
from simtmm.measurement.measure import machine_name, measure
from simtmm.recorder.gpu.device import Device
from simtmm.recorder.gpu.record import load_cupy
from simtmm.result import Measurement
from simtmm.temporary import own_prefix
from simtmm.watch import Watch

REPEAT = 20  # runs of a benchmark: quartiles of 20 are known well enough
DEFAULT_SHARED_MEMORY = 48 * 1024  # bytes of a block, where the device does not say

# A machine's keys, and the attributes of a device that give them, by CUDA's names.
ATTRIBUTES = {
    "limits.blocks_per_group": "MaxBlocksPerMultiprocessor",
    "resources.registers": "MaxRegistersPerMultiprocessor",
    "resources.shared_memory": "MaxSharedMemoryPerMultiprocessor",
    "resources.threads_per_block": "MaxThreadsPerBlock",
    "resources.shared_memory_reserved": "ReservedSharedMemoryPerBlock",
}
RESERVED = 1024  # bytes of each block's shared memory from compute capability 8.0 on, where the device does not say


def calibrate_device(  # noqa: PLR0913, PLR0917 - each is an option of the calibration
    number: int,
    name: str | None = None,
    base: Machine | None = None,
    keep: str | Path | None = None,
    repeat: int = REPEAT,
    watch: Watch | None = None,
    form: str | None = None,
    latency_from: str = CHASE,
    hold: Sequence[str] = (),
) -> Calibration:
    """Measure a GPU, and fit a machine to it.

    number: CUDA's, from 0. name: the machine's, the GPU's own if left out. base: what no measurement gives; what CUDA
    says of the device if left out. keep: a folder for the tables that were measured, latency.csv and stream.csv.
    repeat: runs of each benchmark. watch: called as things go on. form: how the benchmarks' kernels are timed, as of
    `measure`. latency_from: where L comes from, and hold: keys that stay, as of `calibrate`.

    Raises RecordingError where there is no such GPU, StudyError where the measurements do not fit together.
    """
    cupy = load_cupy()
    count = int(cupy.cuda.runtime.getDeviceCount())
    if not 0 <= number < count:
        raise RecordingError(f"device {number}: must be from 0 to {count - 1}: CUDA finds {count} devices")
    cupy.cuda.Device(number).use()
    device = Device(cupy)
    gpu = machine_name(device.name)
    measurements, left_out = _measured(device, gpu, repeat, watch, form)
    base = base if base is not None else device_machine(device, gpu)
    with tempfile.TemporaryDirectory(prefix=own_prefix("calibrate")) as scratch:
        folder = Path(scratch if keep is None else keep)
        paths = {"latency": folder / "latency.csv", "stream": folder / "stream.csv"}
        tables = {"latency": latency_table(measurements, gpu), "stream": stream_table(measurements, gpu)}
        for what, lines in tables.items():
            if not lines:
                raise StudyError(f"device {number}: {what}: no benchmark could be measured: {left_out[0]}")
            write_lines(paths[what], lines)
        chased, points = load_latency(paths["latency"]), load_stream(paths["stream"])
    called = {"latency": f"pointer chase on {gpu}", "stream": f"streams over occupancy on {gpu}"}
    found = calibrate(name or gpu, chased, points, base, called, watch, latency_from, hold)
    return _with_more(found, measurements, gpu, left_out)


def _measured(
    device: Device, gpu: str, repeat: int, watch: Watch | None, form: str | None
) -> tuple[dict[str, Measurement], tuple[str, ...]]:
    """Measurements by benchmark, and lines about those that could not be had."""
    measurements: dict[str, Measurement] = {}
    left_out: list[str] = []
    items = list(benchmarks(device.attributes.get("MaxSharedMemoryPerBlockOptin", DEFAULT_SHARED_MEMORY)))
    for done, each in enumerate(items):
        if watch:
            watch("measuring", done, len(items))
        try:
            measurements[each.name] = measure(
                each.kernel, each.parameters, repeat=repeat, cold=each.cold, machine=gpu, form=form
            )
        except (KernelError, RecordingError) as error:
            if "restart Python" in str(error):
                raise
            left_out.append(f"benchmark {each.name} left out: {error}")
    return measurements, tuple(left_out)


def device_machine(device: Device, gpu: str) -> Machine:
    """What CUDA says of a device: groups, threads, limits; latency and clock are to be measured."""
    attributes = device.attributes
    width = attributes.get("WarpSize", WARP_WIDTH)
    entries: dict[str, Any] = {
        "cores.groups": attributes["MultiProcessorCount"],
        "cores.warp_width": width,
        "cores.max_threads_per_core": attributes["MaxThreadsPerMultiProcessor"] / CORES_PER_GROUP,
        **{key: attributes[name] for key, name in ATTRIBUTES.items() if attributes.get(name)},
    }
    source = f"CUDA's attributes of {gpu}"
    values = [Value(key, value, "", source, "") for key, value in entries.items()]
    values.append(Value("cores.cores_per_group", CORES_PER_GROUP, "cores", source, "assumption", False))
    capability = attributes.get("ComputeCapabilityMajor", 0), attributes.get("ComputeCapabilityMinor", 0)
    calculator = "NVIDIA's occupancy calculator, by compute capability"
    for key, value in units_of(*capability).items():
        if key not in entries:
            values.append(Value(key, value, "", calculator, "assumption", False))
    cores = {value.key.removeprefix("cores."): value.value for value in values if value.key.startswith("cores.")}
    tables = {
        "name": gpu,
        "ticks_per_cycle": LEAST_TICKS,
        "cores": cores,
        "memory": {"latency": 1, "chunk_words": CHUNK_WORDS},
    }
    return with_sources(with_values(Machine.from_dict(tables), values), None, values)


def units_of(major: int, minor: int) -> dict[str, int]:
    """The units in which a GPU of NVIDIA hands out registers and shared memory, which it does not say, by their keys.

    major, minor: its compute capability; none before 6.0. Source: NVIDIA's occupancy calculator, from memory.
    """
    if major < 6:
        return {}
    files = 2 if (major, minor) == (6, 0) else 4
    found = {"resources.register_unit": 256, "resources.register_files": files, "resources.shared_memory_unit": 256}
    if major >= 8:
        found |= {"resources.shared_memory_unit": 128, "resources.shared_memory_reserved": RESERVED}
    return found


def _with_more(
    found: Calibration, measurements: Mapping[str, Measurement], gpu: str, left_out: tuple[str, ...]
) -> Calibration:
    """The same with what a launch, an atomic update and an access to shared memory take."""
    machine, values, notes = found.machine, [], [*found.notes, *left_out]
    update = _slope(measurements, "atomic-", "n")
    if update is not None:
        note = "time of each further update of one counter"
        measured = Value("memory.atomic_service", round(update, 3), "cycles", f"atomic-update on {gpu}", note)
        values.append(measured)
    if "launch-one" in measurements:
        one = measurements["launch-one"]
        memory, scheduling = machine.memory, machine.scheduling
        stored = memory.latency if memory.store_latency is None else memory.store_latency
        inside = scheduling.block_launch + scheduling.warp_launch + memory.latency
        inside += stored if memory.stores != "posted" else 0
        overhead = max(0.0, one.elapsed.median * one.device["clock_hz"] - inside)
        note = "a launch of one thread, minus its start, its load and its store"
        values.append(
            Value("scheduling.launch_overhead", round(overhead, 1), "cycles", f"vector-add of 1 on {gpu}", note)
        )
    access = _slope(measurements, "shared-", "steps")
    if access is not None:
        notes.append(
            f"a shared-memory access takes {access:.1f} cycles until one that depends on it; the machine has no "
            "key for this: an access takes the time of its port"
        )
    kept = [value for value in found.values if value.key not in {each.key for each in values}]
    whole = with_sources(with_values(machine, values), machine, values)
    return replace(found, machine=whole, values=(*kept, *values), notes=tuple(notes))


def _slope(measurements: Mapping[str, Measurement], prefix: str, parameter: str) -> float | None:
    """Cycles for each one more of a parameter, from a benchmark's smallest to its largest; None where there are no two,
    or the larger took no longer.
    """
    runs = sorted((each.parameters[parameter], each) for name, each in measurements.items() if name.startswith(prefix))
    if len(runs) < 2:
        return None
    (few, short), (many, long) = runs[0], runs[-1]
    cycles = (long.seconds - short.seconds) * long.device["clock_hz"] / (many - few)
    return cycles if cycles > 0 else None
