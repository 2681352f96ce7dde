"""What each rule of the machine is worth: measured points simulated with all rules, and without one of them.

No point here decided a value of a profile. But the values of all rules were chosen together, and without a rule the
others stay as they are: fitted anew, they would take over a part of what it does, so a rule's worth here is the most
that it may be. Where an error falls, another rule does what this one undoes, or it is not worth what it costs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from simtmm.calibration.streams.fit import FIT_POINTS
from simtmm.calibration.streams.occupancy_curve import StreamPoint, occupancy_curve
from simtmm.engine import simulate
from simtmm.machine import Machine, load_machine
from simtmm.measurement.timings import Timing
from simtmm.model.series import SIMULATED
from simtmm.program import Program, architecture_for, open_program
from simtmm.recorder.compiled.record import record
from simtmm.trace.lower import lower
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.cases import Tables, h100_compiled, stream_occupancy
from simtmm.validation.compiled.programs import program
from simtmm.watch import Watch
from simtmm.workload import JOIN, PAUSE, Workload

NOTHING_LEFT_OUT = 2**31 - 1  # of a join: it waits for no async that there could be


@dataclass(frozen=True)
class Rule:
    """A rule that can be switched off. off: values of keys without it. pauses: whether pauses go, too."""

    name: str
    off: Mapping[str, Any] = field(default_factory=dict)
    pauses: bool = False

    def without(self, machine: Machine) -> Machine:
        """The machine without it: itself where it has none of it."""
        own = machine.values()
        there = {key: value for key, value in self.off.items() if key in own or any(_lies_in(at, key) for at in own)}
        other = machine.replace(there)
        return machine if other.digest() == machine.digest() else other


RULES = (
    Rule("the oldest first", {"scheduling.scheduler": "fifo"}),
    Rule("launch_overhead", {"scheduling.launch_overhead": 0}),
    Rule("block_launch", {"scheduling.block_launch": 0}),
    Rule("block_interval", {"scheduling.block_interval": 0}),
    Rule("warp_launch", {"scheduling.warp_launch": 0}),
    Rule("stalls of instructions", {"banks.latency": 0}, pauses=True),
    Rule("banks.latency", {"banks.latency": 0}),
    Rule("pipes by class", {"pipes": None}),
    Rule("barriers", {"scheduling.barrier_latency": 0, "scheduling.barrier_interval": 0}),
    Rule("issue_ports", {"cores.issue_ports": None}),
    Rule("the pipe of L1 and shared memory", {"memory.pipe": None}),
    Rule("store_interval", {"memory.store_interval": None}),
    Rule("fetch_interval", {"memory.fetch_interval": 0}),
    Rule("return_delay", {"memory.return_delay": 0}),
    Rule("return_interval", {"memory.return_interval": 0}),
    Rule("store_buffer", {"memory.store_buffer": 0}),
    Rule("port_chunks", {"memory.port_chunks": 1}),
    Rule("the L1", {"memory.l1": None}),
    Rule("the L2", {"memory.l2": None}),
    Rule("l2.service", {"memory.l2.service": 0}),
    Rule("l2.writes = back", {"memory.l2.writes": "through"}),
    Rule("l2.start = warm", {"memory.l2.start": "cold"}),
    Rule("service", {"memory.service": 0}),
    Rule("hashed partitions", {"memory.interleave": "modulo"}),
    Rule("turnaround", {"memory.turnaround": 0}),
    Rule("waiting for stores", {"memory.stores": "posted"}),
    Rule("store_latency", {"memory.store_latency": None}),
    Rule("first_access", {"memory.first_access": 0}),
)

# Of the curves, of the points that nothing was fitted to
EACH = 8
SAMPLED_GPU = 1  # a sample has the first point of this one, which has each rule that another has

EMPTY = tuple(product((32, 512, 1024), (1, 128, 2048)))  # threads and blocks
FFMA_BLOCKS, FFMA_ITERATIONS = (1, 100, 400, 1000, 3000), 10
POLYBENCH_SIZES = (64, 128)
DECIDED_BY_SIDE = {"gemm": 8, "mvt": 8, "syrk": 32}  # blocks that l2.latency came from, and once port_interval
VECTORS = (1 << 15, 1 << 16, 1 << 17, 1 << 21, 1 << 22)  # first_access comes from 2^14, l2.service from 2^18 to 2^20
WHOLE = ("scalar-product", "scan-short", "lud")  # kernels of which all measured points are simulated
SAMPLED = ("empty", "scan-short")  # a sample has one point of each

NOTES = (
    "A column is the mean error without a rule, all else as it is: nothing moves where a machine does not have it, or "
    "does not need it. Rules that none of these machines has, or none of these kernels needs, have no column: rows, "
    "those of atomics, local memory written back in the L1, pipeline_depth.",
    "Values were chosen with all rules in place, and are not chosen anew without one. So what a rule is worth is at "
    "most what its column says; and where the error falls without it, it makes up for another rule that is missing, "
    "on points that were fitted.",
)


def reproduce(watch: Watch | None = None) -> Tables:
    """A table of streams on six GPUs, and one of compiled kernels on an H100."""
    streams = [(gpu, unfitted(stream_occupancy.measured_points(gpu.column))[::EACH]) for gpu in stream_occupancy.GPUS]
    return _streams(streams, watch), _kernels(
        [time for time in h100_compiled.measured_times() if _is_chosen(time)], watch
    )


def sample(watch: Watch | None = None) -> Tables:
    """The same of a point of one GPU and of two kernels."""
    gpu = stream_occupancy.GPUS[SAMPLED_GPU]
    chosen = [time for time in h100_compiled.measured_times() if _is_chosen(time)]
    times = [next(time for time in chosen if time.kernel == kernel) for kernel in SAMPLED]
    return _streams([(gpu, unfitted(stream_occupancy.measured_points(gpu.column))[:1])], watch), _kernels(times, watch)


def unfitted(points: Sequence[StreamPoint]) -> list[StreamPoint]:
    """The points of a curve that `simtmm machines calibrate` does not fit to."""
    fitted = {round(at) for at in np.linspace(0, len(points) - 1, FIT_POINTS)}
    return [point for index, point in enumerate(points) if index not in fitted]


def _machines(machine: Machine) -> dict[str, tuple[Machine, Rule | None]]:
    """The machine, and it without each rule that it has, by series."""
    without = {f"without {rule.name}": (rule.without(machine), rule) for rule in RULES}
    return {SIMULATED: (machine, None), **without}


def _streams(chosen: Sequence[tuple[stream_occupancy.Gpu, Sequence[StreamPoint]]], watch: Watch | None) -> Accuracy:
    rows: list[Measured] = []
    for gpu, points in chosen:
        own = load_machine(gpu.machine)
        curves = {}
        for series, (machine, rule) in _machines(own).items():
            if rule is None or machine is not own:
                curves[series] = occupancy_curve(machine, points, watch=watch)
        for operation in curves[SIMULATED].operations:
            for index, point in enumerate(points):
                said = {name: curve.points[index].bandwidth[operation] / 1e9 for name, curve in curves.items()}
                case = f"{operation}, {point.blocks_per_group} x {point.block_size} threads"
                rows.append(Measured(case, point.measured[operation] / 1e9, said, 100 * point.occupancy, gpu.title))
    return Accuracy(
        name="ablation-streams",
        title="Without each rule: streaming kernels over occupancy",
        quantity="bandwidth",
        unit="GB/s",
        points=tuple(_filled(rows)),
        calibrated="nothing on these points. Elsewhere on these curves: " + stream_occupancy.CALIBRATED,
        origin=stream_occupancy.ORIGIN,
        machine=", ".join(gpu.machine for gpu in stream_occupancy.GPUS),
        along="occupancy, %",
        promised={SIMULATED: 0.065},
        notes=NOTES,
    )


def _kernels(times: Sequence[Timing], watch: Watch | None) -> Accuracy:
    own = load_machine(h100_compiled.MACHINE)
    machines = _machines(own)
    rows = []
    for done, time in enumerate(times):
        if watch:
            watch("rules, on compiled kernels", done, len(times))
        case = ", ".join(f"{name} = {value}" for name, value in time.parameters.items())
        rows.append(
            Measured(f"{time.kernel}, {case}", time.seconds * 1e6, dict(_said(time, own, machines)), group=time.kernel)
        )
    return Accuracy(
        name="ablation-kernels",
        title="Without each rule: compiled kernels on an H100 PCIe",
        quantity="time",
        unit="us",
        points=tuple(_filled(rows)),
        calibrated="no number on these points; that stores stay in the L2 and that it is warm was seen on vectorAdd of "
        "up to 2^21 elements, too. Elsewhere: " + h100_compiled.CALIBRATED,
        origin=h100_compiled.ORIGIN,
        machine=h100_compiled.MACHINE,
        promised={SIMULATED: 0.1},
        notes=NOTES,
    )


def _said(
    time: Timing, own: Machine, machines: Mapping[str, tuple[Machine, Rule | None]]
) -> Iterator[tuple[str, float]]:
    """What the simulation gives in microseconds, by series, where it may differ."""
    measured = program("copy" if time.kernel == "transpose" else time.kernel, time.parameters)
    architecture, _ = architecture_for(measured, own, "compiled")
    recorded = open_program(record(measured, measured.resolve({}), architecture=architecture))
    for series, (machine, rule) in machines.items():
        if rule is not None and machine is own:
            continue
        workload = recorded.on(machine).workload
        if rule is not None and rule.pauses:
            held = workload if isinstance(workload, Workload) else _held(recorded, machine)
            workload = without_pauses(held)
        result = simulate(machine, workload, breakdown=False)
        assert result.seconds is not None
        yield series, result.seconds * 1e6


def _held(recorded: Program, machine: Machine) -> Workload:
    """The workload of a program that is lowered as an engine asks for it, all of it at once."""
    assert recorded.trace is not None
    return lower(recorded.trace, machine)


def without_pauses(workload: Workload) -> Workload:
    """The workload with joins that wait for nothing in the place of pauses."""
    pauses = workload.kind == PAUSE
    kind, amount = workload.kind.copy(), workload.amount.copy()
    kind[pauses], amount[pauses] = JOIN, NOTHING_LEFT_OUT
    return replace(workload, kind=kind, amount=amount)


def _filled(rows: Sequence[Measured]) -> Iterator[Measured]:
    """Points in which each series that any of them has says something: as simulated, where nothing was switched off."""
    there = {name for row in rows for name in row.said}
    names = [name for name in (SIMULATED, *(f"without {rule.name}" for rule in RULES)) if name in there]
    for row in rows:
        yield replace(row, said={name: row.said.get(name, row.said[SIMULATED]) for name in names})


def _is_chosen(time: Timing) -> bool:
    """Whether a case is simulated here: of those that decided no value. 3dconv, Walsh transforms and sorts are not:
    with each rule off in turn they would take hours.
    """
    numbers = {name: int(value) for name, value in time.parameters.items()}
    match time.kernel:
        case "empty":
            shape = numbers["threads"], numbers["blocks"]
            return shape not in h100_compiled.EMPTY_CALIBRATION and shape in EMPTY
        case "ffma":
            return numbers["blocks"] in FFMA_BLOCKS and numbers["iterations"] == FFMA_ITERATIONS
        case "gemm" | "mvt" | "syrk":
            return numbers["n"] in POLYBENCH_SIZES and numbers["side"] != DECIDED_BY_SIDE[time.kernel]
        case "vector-add":
            return numbers["n"] in VECTORS
        case "transpose":
            return numbers["n"] <= h100_compiled.LARGEST["transpose"]
    return time.kernel in WHOLE


def _lies_in(at: str, table: str) -> bool:
    return at.startswith(f"{table}.")
