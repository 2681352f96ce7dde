"""The same curves as stream_occupancy on machines that were never calibrated: what their families are worth.

Each GPU is predicted from the others: its machine has of its own profile what a data sheet and a pointer chase tell,
and from its family what others of it were fitted to (simtmm.calibration.donors), itself left out.
"""

from collections.abc import Mapping, Sequence

from simtmm.calibration.donors import left_out
from simtmm.calibration.streams.occupancy_curve import StreamPoint, occupancy_curve
from simtmm.machine import Machine, load_machine
from simtmm.measurement.stream_operations import OPERATIONS
from simtmm.model.series import SIMULATED
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.cases import Tables
from simtmm.validation.cases.stream_occupancy import GPUS, ORIGIN, Gpu, measured_points, modelled
from simtmm.watch import Watch

EACH = 6  # every so-manieth point is simulated
SAMPLE = 30  # a multiple of EACH
SHEET = "simulated, by the data sheet"
ALONE = "simulated without a family"
COMPARED_MODELS = ("mwp-cwp",)
# What a machine without a family has: no overheads, and stores that nobody waits for
WITHOUT = {
    "scheduling.block_launch": 0,
    "scheduling.warp_launch": 0,
    "memory.store_latency": None,
    "memory.turnaround": 0,
    "memory.port_interval": 0,
    "memory.fetch_interval": 0,
    "memory.return_delay": 0,
    "memory.return_interval": 0,
    "memory.store_buffer": 0,
    "memory.store_interval": None,
    "memory.stores": "posted",
}
# The mean error of the simulation, and that by the data sheet alone, are held below these
PROMISED: Mapping[str, tuple[float, float]] = {
    "v100": (0.05, 0.07),
    "a100-80": (0.04, 0.07),
    "mi210": (0.08, 0.085),
    "a40": (0.07, 0.085),
    "gh200": (0.08, 0.08),
    "mi300a": (0.1, 0.24),
}
NOTES = (
    "Simulated: L by a pointer chase on the GPU is known of it, and on GPUs of AMD the bandwidth of reads at full "
    f"occupancy. {SHEET}: neither is, and L and the bandwidth follow from the family's rules. {ALONE}: as simulated, "
    "with overheads of 0 and posted stores, which is what profiles had that were never calibrated.",
)


def reproduce(watch: Watch | None = None) -> Tables:
    """A table a GPU."""
    return _tables(EACH, watch)


def sample(watch: Watch | None = None) -> Tables:
    """The same of the least occupancy and one where memory is saturated."""
    return _tables(SAMPLE, watch)


def _tables(each: int, watch: Watch | None) -> Tables:
    calibrated = [load_machine(gpu.machine) for gpu in GPUS]
    return tuple(
        _table(gpu, machine, calibrated, measured_points(gpu.column)[::each], watch)
        for gpu, machine in zip(GPUS, calibrated, strict=True)
    )


def _table(
    gpu: Gpu, machine: Machine, calibrated: Sequence[Machine], points: Sequence[StreamPoint], watch: Watch | None
) -> Accuracy:
    chased, donors = left_out(machine, calibrated, measured=True)
    by_sheet, _ = left_out(machine, calibrated, measured=False)
    machines = {SIMULATED: chased, SHEET: by_sheet, ALONE: chased.replace(WITHOUT)}
    curves = {series: occupancy_curve(each, points, watch=watch) for series, each in machines.items()}
    rows = []
    for operation in [name for name in OPERATIONS if name in points[0].measured]:
        for index, point in enumerate(points):
            values = {series: curve.points[index].bandwidth[operation] / 1e9 for series, curve in curves.items()}
            models = modelled(chased, operation, point)
            rows.append(
                Measured(
                    case=f"{operation}, {point.blocks_per_group} x {point.block_size} threads",
                    measured=point.measured[operation] / 1e9,
                    said=values | {name: models[name] for name in COMPARED_MODELS if name in models},
                    at=100 * point.occupancy,
                    group=operation,
                )
            )
    most, most_by_sheet = PROMISED[gpu.machine]
    given = ", ".join(donor.name for donor in donors)
    return Accuracy(
        name=f"stream-left-out-{gpu.machine}",
        title=f"Streaming kernels over occupancy, never calibrated: {gpu.title}",
        quantity="bandwidth",
        unit="GB/s",
        points=tuple(rows),
        calibrated=f"nothing on this GPU. What its family has was found on others: {given} (docs/families.md).",
        origin=ORIGIN,
        machine=gpu.machine,
        along="occupancy, %",
        promised={SIMULATED: most, SHEET: most_by_sheet},
        notes=NOTES,
    )
