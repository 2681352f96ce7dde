"""The rows of the hierarchy's measurements on a machine."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from simtmm.calibration.hierarchy.fits import OF_STREAMS, SERVICE
from simtmm.calibration.hierarchy.measured import ELEMENT_BYTES, Kind, MeasuredSet, Row
from simtmm.calibration.hierarchy.workloads import ELEMENTS, THREADS, TRIPS, loads_of_l1, parts_of_l2
from simtmm.calibration.least_squares import Numbers
from simtmm.calibration.streams.kernels import stream_workload
from simtmm.engine import simulate
from simtmm.errors import StudyError
from simtmm.machine import Machine
from simtmm.workload import Workload

LANES = 32  # of a load whose cycles are told, on machines with waves of 64 too
WAVE_OF_64 = 64  # lanes of AMD's waves, whose measured buffer has elements of four floats
WAVES = 1, 2  # of a machine full of blocks that read parts: the difference has neither a beginning nor an end
SMALL = "scale"  # the streaming kernel that the small one is: an element is loaded, scaled and stored
OF_PIPE = ("memory.pipe.access_interval", "memory.pipe.tag_interval", "memory.pipe.interval")
FELT: dict[Kind, tuple[str, ...]] = {
    "strides": OF_PIPE,
    "caches": OF_PIPE,
    "l2": (SERVICE,),
    "small": (
        SERVICE, "memory.l2.store_service", "scheduling.launch_overhead", "scheduling.graph_launch_overhead",
        "scheduling.block_interval", "memory.partitions", *(fit.key for fit in OF_STREAMS),
    ),
}  # fmt: skip
"""The keys of a fit that the rows of a kind feel, more than slightly."""


class SimulatedSet:
    """The rows of a set on machines that differ in keys of FELT alone, kept for each of their values."""

    def __init__(self, measured: MeasuredSet, machine: Machine) -> None:
        """measured: the rows. machine: what each of the machines is but for those keys.

        Raises StudyError where the machine has no clock.
        """
        if machine.clock_hz is None and measured.kind != "strides":
            raise StudyError(f"machine {machine.name}: clock_hz: is required")
        self.measured = measured
        self._run = _RUNS[measured.kind](measured.rows, machine)
        self._known: dict[tuple[object, ...], Numbers] = {}

    @property
    def kind(self) -> Kind:
        """Strides, caches, l2 or small."""
        return self.measured.kind

    @property
    def called(self) -> str:
        """What sources call it."""
        return self.measured.called

    @property
    def others(self) -> Mapping[str, int]:
        """How many rows were not fitted, by reason."""
        return self.measured.others

    @property
    def has_graphs(self) -> bool:
        """Whether some rows are nodes of a CUDA graph."""
        return any(row.of.get("way") == "graph" for row in self.measured.rows)

    @property
    def rows(self) -> int:
        """How many residuals there are."""
        return len(self.measured.rows)

    def residuals(self, machine: Machine) -> Numbers:
        """float64[rows]: the logarithm of simulated over measured, of times; of bandwidths the other way round."""
        values = machine.values()
        felt = tuple(values.get(key) for key in FELT[self.measured.kind])
        if felt not in self._known:
            off = np.log(self._run(machine) / np.array([row.measured for row in self.measured.rows]))
            self._known[felt] = -off if self.measured.kind in ("caches", "l2") else off
        return self._known[felt]


Run = Callable[[Machine], Numbers]


def _strides(rows: Sequence[Row], machine: Machine) -> Run:
    workload = loads_of_l1(rows, machine)

    def run(machine: Machine) -> Numbers:
        """Cycles of a warp's load."""
        return _cycles_of_a_load(machine, workload)

    return run


def _caches(rows: Sequence[Row], machine: Machine) -> Run:
    usual = "float4" if machine.cores.warp_width == WAVE_OF_64 else "float"
    types = [str(row.of["type"] or usual) for row in rows]
    kinds = sorted(set(types))
    neighbours = [Row(each, {"type": each, "kernel": "stride", "parameter": 1, "pitch": 0}, 1.0) for each in kinds]
    workload = loads_of_l1(neighbours, machine)

    def run(machine: Machine) -> Numbers:
        """Bytes a second over all groups: a buffer in the L1 is read as quickly whatever its size."""
        cycles = dict(zip(kinds, _cycles_of_a_load(machine, workload), strict=True))
        width = machine.cores.groups * LANES * float(machine.clock_hz or 0)
        return np.array([width * ELEMENT_BYTES[each] / cycles[each] for each in types])

    return run


def _cycles_of_a_load(machine: Machine, workload: Workload) -> Numbers:
    """Of 32 lanes, on any machine, in the steady state: what more trips take."""
    ticks = np.array(simulate(machine, workload, breakdown=False).launch_ticks).reshape(-1, len(TRIPS))
    loads = THREADS // LANES * len(ELEMENTS) * (TRIPS[1] - TRIPS[0])
    return np.asarray(np.diff(ticks)[:, 0] / machine.ticks_per_cycle / loads)


def _l2(rows: Sequence[Row], machine: Machine) -> Run:
    def run(machine: Machine) -> Numbers:
        """Bytes a second; laid out each time, as those of all rows would fill memory."""
        found = []
        for row in rows:
            moved, ticks = np.diff([_parts(int(row.of["kilobytes"]), machine, waves) for waves in WAVES], axis=0)[0]
            found.append(moved * float(machine.clock_hz or 0) * machine.ticks_per_cycle / ticks)
        return np.array(found)

    return run


def _parts(kilobytes: int, machine: Machine, waves: int) -> tuple[int, int]:
    """Bytes that so many waves of blocks read, and the ticks that they take."""
    workload, moved = parts_of_l2(kilobytes, machine, waves)
    return moved, simulate(machine, workload, breakdown=False).ticks


def _small(rows: Sequence[Row], machine: Machine) -> Run:
    def run(machine: Machine) -> Numbers:
        """Seconds of a launch behind another one."""
        node = machine.replace({"scheduling.launch_overhead": machine.scheduling.graph_launch_overhead})
        found = []
        for row in rows:
            elements, block = int(row.of["elements"]), int(row.of["block"])
            on = node if row.of["way"] == "graph" else machine
            of_group = on.active_blocks(block)
            workload = stream_workload(SMALL, block, elements // block + 1, on, of_group)
            ticks = simulate(on, workload, breakdown=False).ticks
            found.append(ticks / on.ticks_per_cycle / float(on.clock_hz or 0))
        return np.array(found)

    return run


_RUNS: dict[Kind, Callable[[Sequence[Row], Machine], Run]] = {
    "strides": _strides, "caches": _caches, "l2": _l2, "small": _small
}  # fmt: skip
