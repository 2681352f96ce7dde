"""Bandwidth of L2s, and small kernels launched one after another: what lies between the SMs and memory.

The kernels are written anew from descriptions (simtmm/validation/compiled/l2.cu), compiled and run as machine code. Of
the 200,000 blocks of a measurement of bandwidth as many are simulated as fill the machine a few times, without what
their beginning and their end take; each launch finds what an earlier one has left, as the second of thousands does.
"""

import sys
from collections.abc import Callable

from simtmm.analysis.run import run
from simtmm.machine import Machine, load_machine
from simtmm.measurement.timings import Timing, load_timings
from simtmm.model.series import SIMULATED
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.cases import Tables
from simtmm.validation.cases.measured_files import measured_file
from simtmm.validation.compiled.programs import READ_PARTS_BYTES, READ_PARTS_THREADS, program
from simtmm.watch import Watch

L2_FILE, SMALL_FILE, GRAPHS_FILE = "l2_bandwidth.csv", "small_kernels.csv", "small_kernels_graphs.csv"
BLOCKS_FILE = "small_blocks.csv"
MOST_FITTED_THREADS = 128  # of a block of a small kernel, by which the rate of blocks was fitted
BARRIERS_FILE = "grid_barriers.csv"
TRIPS = 1, 3  # of two launches, whose difference is simulated: what a launch takes by itself is none of it
MEASURED_BLOCKS = 200_000
WAVES = 2, 6  # of a machine full of blocks, whose difference is simulated: neither their beginning nor their end
# On an MI210 blocks that read a buffer larger than its L2 come closer together, wave by wave: of 960 that were measured
BEYOND_L2, MORE_WAVES = {"mi210": 8192}, (6, 96)
# Bytes a second of a board's memory: of this H200 from 132 MB to 4.9 GB, where another one reads 4.63e12
# (traces/measured/h200-sxm), as its profile says
OWN_BANDWIDTHS = {"h200": 3.888e12}
RESIDENT = 2048  # threads of a group of each of these GPUs
# Sizes by which rates were fitted: kilobytes that fit the L2, and elements of which a launch is most of the time
FITTED_KILOBYTES = {"a100-80": 16896, "h200": 16896, "mi210": 6144}
FITTED_AT_EDGE = {"a100-80": (28_160, 52_736), "h200": (44_032, 76_288)}  # from and to: by which halves were fitted
FITTED_ELEMENTS = {"a40": 350_000, "h200": 70_000}
FITTED_IN_GRAPHS = {"a40": 300_000, "h200": 33_317, "h100-sxm": 0}
ORIGIN = "RRZE-HPC/gpu-benches@1038c5d (2025-02-11) {}, in traces/measured/{}"
RATES = (
    "memory.l2.service (rule l2_load_bytes of machines/families) on what is read of buffers that fit the L2; "
    "memory.l2.far_service, .index and .replacement on the A100's buffers of 28 to 53 MB and the H200's of 44 to 76"
)
LAUNCHES = (
    "scheduling.launch_overhead (rule launch_seconds of machines/families) on 4,096 to 300,000 elements on the A40 and "
    "to 100,000 on the H200; memory.l2.store_service on CUDA graphs, which are not in this table, and the H200's on "
    "its 546,056 to 2,210,918 elements, too"
)
DISPATCH = (
    "scheduling.block_interval (rule dispatch_cycles of machines/families) on blocks of 32 to 128 threads; launches as "
    "in small-kernels"
)
NODES = (
    "scheduling.graph_launch_overhead (rule graph_launch_seconds of machines/families) on up to 33,317 elements on the "
    "A40 and the H200, and on empty kernels of one block on the H100 SXM; memory.l2.store_service (l2_store_bytes) on "
    "100,000 to 300,000 elements on the A40, the H200's on its 546,056 to 2,210,918 elements, here and one after "
    "another"
)

MEETINGS = "scheduling.grid_barrier and .grid_barrier_block of all Hopper GPUs on all points of the H200"
OWN = "; the H100 SXM: measured by simtmm"


def reproduce(watch: Watch | None = None) -> Tables:
    """The tables, of all measured sizes."""
    return _tables(lambda time: True, watch)


def sample(watch: Watch | None = None) -> Tables:
    """The same with a few sizes of each."""
    few = {("mi210", "4096"), ("mi210", "10240"), ("a40", "4096"), ("a40", "202791"), ("h200", "134870")}
    few |= {("h200", "16562"), ("a40", "75315"), ("h100-sxm", "32"), ("h100-sxm", "4096")}
    return _tables(lambda time: (time.machine, next(iter(time.parameters.values()))) in few, watch)


def bandwidth(time: Timing, machine: Machine) -> Measured:
    """Bytes a second that blocks read of a buffer, in GB/s: measured, and simulated once as many begin as end."""
    name, resident = machine.name, machine.cores.groups * RESIDENT // READ_PARTS_THREADS
    if time.machine in OWN_BANDWIDTHS:
        machine = machine.replace({"memory.service": f"x{_of_memory(machine) / OWN_BANDWIDTHS[time.machine]:.4f}"})
    is_beyond = int(time.parameters["kilobytes"]) > BEYOND_L2.get(time.machine, sys.maxsize)
    few, many = MORE_WAVES if is_beyond else WAVES
    seconds = []
    for waves in (few, many):
        blocks = {"blocks": resident * waves, "underway": resident}
        found = run(program("read_parts", {**time.parameters, **blocks}), machine, form="compiled", what_if=False)
        assert found.result.seconds is not None
        seconds.append(found.result.seconds)
    moved = resident * (many - few) * READ_PARTS_BYTES
    return Measured(
        f"{name}, {time.parameters['kilobytes']} kB",
        MEASURED_BLOCKS * READ_PARTS_BYTES / time.seconds / 1e9,
        {SIMULATED: moved / (seconds[1] - seconds[0]) / 1e9},
        group=name,
    )


def _of_memory(machine: Machine) -> float:
    """Bytes a second that all partitions move."""
    assert machine.clock_hz is not None
    ticks = machine.durations.service / machine.ticks_per_cycle / machine.clock_hz
    return machine.memory.partitions * machine.chunk_bytes / ticks


def launched(time: Timing, machine: Machine, name: str) -> Measured:
    """The time of a small kernel, launched as one of many, in microseconds. name: the machine's in the table."""
    found = run(program(time.kernel, time.parameters), machine, form="compiled", what_if=False)
    assert found.result.seconds is not None
    what = ", ".join(f"{key} = {value}" for key, value in time.parameters.items())
    if time.kernel == "quarter":
        what = f"{time.parameters['n']} elements"
        what += f", blocks of {time.parameters['threads']}" if "threads" in time.parameters else ""
    case = f"{name}, {what}"
    return Measured(case, time.seconds * 1e6, {SIMULATED: found.result.seconds * 1e6}, group=name)


def in_graph(time: Timing, machine: Machine) -> Measured:
    """The time of a small kernel that follows another one in a graph, in microseconds."""
    node = machine.replace({"scheduling.launch_overhead": machine.scheduling.graph_launch_overhead})
    return launched(time, node, machine.name)


def between_barriers(time: Timing, machine: Machine) -> Measured:
    """The time of a trip with a grid barrier behind it, in microseconds."""
    seconds = []
    for trips in TRIPS:
        traced = program(time.kernel, {**time.parameters, "trips": trips})
        found = run(traced, machine, form="compiled", what_if=False).result.seconds
        assert found is not None
        seconds.append(found)
    each = (seconds[1] - seconds[0]) / (TRIPS[1] - TRIPS[0])
    what = ", ".join(f"{key} = {value}" for key, value in time.parameters.items())
    return Measured(f"{machine.name}, {what}", time.seconds * 1e6, {SIMULATED: each * 1e6}, group=machine.name)


def _tables(chosen: Callable[[Timing], bool], watch: Watch | None) -> Tables:
    times = [time for file in (L2_FILE, SMALL_FILE) for time in load_timings(measured_file(file)) if chosen(time)]
    sized = [time for time in load_timings(measured_file(BLOCKS_FILE)) if chosen(time)]
    nodes = [time for time in load_timings(measured_file(GRAPHS_FILE)) if chosen(time)]
    trips = [time for time in load_timings(measured_file(BARRIERS_FILE)) if chosen(time)]
    points: dict[str, list[Measured]] = {name: [] for name in TITLES}
    each = (*times, *nodes, *trips, *sized)
    for done, time in enumerate(each):
        if watch:
            watch("L2s and launches", done, len(each))
        machine = load_machine(time.machine)
        if time.kernel == "read_parts":
            points["l2-bandwidth-fitted" if _is_fitted_of_l2(time) else "l2-bandwidth"].append(bandwidth(time, machine))
        elif time.kernel == "quarter_in_trips":
            points["grid-barriers-fitted" if time.machine == "h200" else "grid-barriers"].append(
                between_barriers(time, machine)
            )
        elif "threads" in time.parameters and time.kernel == "quarter":
            is_fitted = int(time.parameters["threads"]) <= MOST_FITTED_THREADS
            points["small-blocks-fitted" if is_fitted else "small-blocks"].append(launched(time, machine, machine.name))
        elif done >= len(times):
            points["graphs-fitted" if _is_fitted_in_graphs(time) else "graphs"].append(in_graph(time, machine))
        else:
            is_short = int(time.parameters["n"]) <= FITTED_ELEMENTS[time.machine]
            points["small-kernels-fitted" if is_short else "small-kernels"].append(
                launched(time, machine, machine.name)
            )
    return tuple(_table(name, tuple(points[name])) for name in TITLES)


def _table(name: str, points: tuple[Measured, ...]) -> Accuracy:
    of_l2 = name.startswith("l2")
    calibrated, origin, machines = OF_TABLES[name.removesuffix("-fitted")]
    return Accuracy(
        name=name,
        title=TITLES[name],
        quantity="bandwidth" if of_l2 else "time",
        unit="GB/s" if of_l2 else "us",
        points=points,
        calibrated=calibrated,
        origin=origin,
        machine=", ".join(machines),
        promised={SIMULATED: PROMISED[name]},
        notes=NOTES[name],
    )


def _is_fitted_of_l2(time: Timing) -> bool:
    kilobytes = int(time.parameters["kilobytes"])
    least, most = FITTED_AT_EDGE.get(time.machine, (0, -1))
    return kilobytes <= FITTED_KILOBYTES[time.machine] or least <= kilobytes <= most


def _is_fitted_in_graphs(time: Timing) -> bool:
    """Whether a node's time decided a value."""
    if time.kernel == "empty":
        return int(time.parameters["blocks"]) == 1
    return int(time.parameters["n"]) <= FITTED_IN_GRAPHS[time.machine]


OF_TABLES = {  # what was calibrated, where measured values are from, and the machines
    "l2-bandwidth": (RATES, ORIGIN.format("gpu-l2-cache", L2_FILE), tuple(FITTED_KILOBYTES)),
    "small-kernels": (LAUNCHES, ORIGIN.format("gpu-small-kernels", SMALL_FILE), tuple(FITTED_ELEMENTS)),
    "small-blocks": (DISPATCH, ORIGIN.format("gpu-small-kernels", BLOCKS_FILE), tuple(FITTED_ELEMENTS)),
    "graphs": (NODES, ORIGIN.format("gpu-small-kernels", GRAPHS_FILE) + OWN, tuple(FITTED_IN_GRAPHS)),
    "grid-barriers": (MEETINGS, ORIGIN.format("gpu-small-kernels", BARRIERS_FILE) + OWN, ("h200", "h100-sxm")),
}
TITLES = {
    "l2-bandwidth-fitted": "Reads of buffers by which the L2's rate was fitted, and the way between its halves",
    "l2-bandwidth": "Reads of buffers that the L2 holds in part or not at all",
    "small-kernels-fitted": "Small kernels one after another, by which launches were fitted",
    "small-kernels": "Larger kernels one after another, on an A40 and an H200",
    "small-blocks-fitted": "Small kernels of blocks of 32 to 128 threads, by which the rate of blocks was fitted",
    "small-blocks": "Small kernels of blocks of 512 and 1,024 threads, on an A40 and an H200",
    "graphs-fitted": "Small kernels in a CUDA graph, by which its nodes and stores were fitted",
    "graphs": "Other kernels in a CUDA graph, on an A40, an H200 and an H100 SXM",
    "grid-barriers-fitted": "Trips with a grid barrier behind each, by which it was fitted",
    "grid-barriers": "Trips of a small kernel with a grid barrier behind each, on an H100 SXM",
}
PROMISED = {"l2-bandwidth-fitted": 0.04, "l2-bandwidth": 0.12, "small-kernels-fitted": 0.05, "small-kernels": 0.07}
PROMISED |= {"small-blocks-fitted": 0.04, "small-blocks": 0.06}
PROMISED |= {"graphs-fitted": 0.05, "graphs": 0.15, "grid-barriers-fitted": 0.01, "grid-barriers": 0.06}
NOTES = {
    "l2-bandwidth-fitted": (
        "Sizes at the edge of the L2, of 28 to 53 MB on the A100 and 44 to 76 on the H200, decided that it has halves "
        "(memory.l2.halves), and how quick the way between them is.",
    ),
    "l2-bandwidth": (
        "Blocks that read the same part at the same time share it. The first ones begin at evenly spread places of "
        "their way, as 200,000 of them do once they have drifted apart.",
        "On an MI210 blocks come closer together the longer they run, as those that find more catch up with those "
        "before. It reads 1.4 TB/s from memory, so at the 4.0 and 3.2 TB/s that were measured of 15 and 21 MB at least "
        "66 and 58 % of all reads were found in its L2, whose 8 MB hold 53 and 38 % of a buffer: the others as another "
        "block had just read the same. How close together blocks are decides that. So of its buffers beyond the L2 the "
        "7th to the 96th wave of blocks are simulated, of 960 that were measured; 15 MB are read at 2.0 TB/s in the "
        "first six, at 3.0 behind twelve, and at 4.4 to 6.1 from the 24th on.",
        "The H200's memory is as quick as this board's, 3.89 TB/s; the profile's is another H200's, 4.63 TB/s.",
    ),
    "small-kernels-fitted": (),
    "small-kernels": ("What is stored and does not fit the L2 is written while more is: the L2 pushes back.",),
    "small-blocks-fitted": (
        "Without a rate of blocks the largest launch of blocks of 32 threads would take a quarter of its time.",
    ),
    "small-blocks": (),
    "graphs-fitted": (),
    "grid-barriers-fitted": (
        "More than 264 blocks were measured, too, but what they record here does not fit in memory.",
    ),
    "grid-barriers": (
        "Trips without work are the slowest against the GPU, 3 to 9 %: work between barriers adds 270 to 400 cycles on "
        "it, and 220 to 250 here.",
    ),
    "graphs": (
        "The H100 SXM's node was fitted on kernels that do nothing: all of its other points are predicted, as are the "
        "empty kernels of more blocks.",
    ),
}
