"""All that needs a GPU in one go, in a few minutes, so that everything else can be done without one.

    FOLDER/MACHINE/device.json            what was measured on
    FOLDER/MACHINE/parity/KERNEL.json     whether a kernel's traces from the CPU and the GPU are the same
    FOLDER/MACHINE/compiled/KERNEL.json   the same of the kernel as compiled: its PTX, instrumented on the GPU
    FOLDER/MACHINE/benchmarks/NAME.json   measurements for calibration: pointer chase, streams, launches
    FOLDER/MACHINE/micro/FILE.json        measurements of micro-kernels, those of a file together
    FOLDER/MACHINE/times/NAME.json        measurements of all kernels over sizes and block shapes
    FOLDER/MACHINE/latency.csv, stream.csv, micro.csv   benchmarks and micro-kernels as tables

Each file is written as soon as it is measured. What is there is not measured again; what failed (NAME.failed.json) is.
"""

import contextlib
import json
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simtmm.catalogue import kernel_folders
from simtmm.computer import cores
from simtmm.errors import (
    CompilerError,
    KernelError,
    OutputError,
    SimtmmError,
    StudyError,
    nearest,
    shown,
    shown_error,
)
from simtmm.files import written_whole
from simtmm.kernel import Kernel, kernel_in
from simtmm.measurement.benchmarks import benchmarks, latency_table, stream_table, write_lines
from simtmm.measurement.measure import load_measurement, machine_name, measure, save_measurement
from simtmm.measurement.micro.measured import micro_table
from simtmm.measurement.micro.programs import by_file, program
from simtmm.provenance import provenance
from simtmm.recorder import record
from simtmm.recorder.compiler import build
from simtmm.recorder.gpu.device import Device
from simtmm.recorder.gpu.record import load_cupy
from simtmm.result import Measurement
from simtmm.trace.io import Trace
from simtmm.watch import Watch

KINDS = ("parity", "benchmarks", "micro", "compiled", "times")  # of items, in the order in which they are measured
REPEAT = 20  # fewer than for a single kernel: quartiles of 20 are known well enough, and time is short
GROWTH = 6.0  # how much longer the next size of a kernel is expected to take
SMALL = 300  # elements, at which traces are compared
FACTORS = (1, 4, 16)  # of a kernel's default size
BLOCKS = (64, 256)  # threads of a block, beside a kernel's default
MICRO_SCALE = 500  # times the trips that are simulated of a micro-kernel: launches of a tenth of a millisecond at least

Action = Callable[[], tuple[str, str, Any]]  # status, note, and what is written


@dataclass(frozen=True)
class Outcome:
    """What came of an item. status: done, there, differs, refused (by the kernel), failed, left (for want of time)."""

    kind: str
    name: str
    status: str
    note: str = ""

    def to_dict(self) -> dict[str, str]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class _Item:
    """family: the items that grow in this order, each of which tells how long the next will take."""

    kind: str
    name: str
    family: str
    action: Action


def measure_all(
    folder: str | Path,
    minutes: float,
    repeat: int | None = None,
    machine: str | None = None,
    watch: Watch | None = None,
    clock: Callable[[], float] = time.monotonic,
    only: Collection[str] | None = None,
) -> list[Outcome]:
    """Measure what is not there yet until the time is up; give what came of each item, in order.

    minutes: begin nothing afterwards, nor what would by its smaller siblings take longer than what is left.
    machine: the name of the folder and in the measurements; the GPU's own if left out.
    only: of KINDS, those to measure; all if left out.
    folder: where the files go, and what is there from before is found.
    repeat: how often each is timed; as often as its kind is by itself if left out.
    clock: gives seconds that go by.

    Raises RecordingError where there is no GPU, OutputError where files can't be written, StudyError for another kind.
    """
    chosen = set(KINDS if only is None else only)
    for kind in sorted(chosen - set(KINDS)):
        raise StudyError(f"only = {shown(kind)}: must be one or more of {', '.join(KINDS)}{nearest(kind, KINDS)}")
    end = clock() + 60 * minutes
    device = Device(load_cupy())
    name = machine or machine_name(device.name)
    place = Path(folder) / re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    _write(place / "device.json", {**device.versions(), **device.facts(), "provenance": provenance()})
    shared_memory = device.attributes.get("MaxSharedMemoryPerBlockOptin", 48 * 1024)
    outcomes: list[Outcome] = []
    taken: dict[str, float] = {}
    with _building() as builds:
        every = _items(builds, repeat or REPEAT, name, shared_memory, device.architecture())
        items = [item for item in every if item.kind in chosen]
        for done, item in enumerate(items):
            if watch:
                watch("measuring", done, len(items))
            path = place / item.kind / f"{item.name}.json"
            begun = clock()
            if path.exists():
                outcomes.append(Outcome(item.kind, item.name, "there"))
            elif begun >= end or GROWTH * taken.get(item.family, 0.0) > end - begun:
                outcomes.append(Outcome(item.kind, item.name, "left"))
            else:
                outcomes.append(_measured(item, path))
                taken[item.family] = clock() - begun
                if "restart Python" in outcomes[-1].note:  # the device takes nothing more from this process
                    end = begun
    _tables(place)
    return outcomes


def _measured(item: _Item, path: Path) -> Outcome:
    failed = path.with_suffix(".failed.json")
    try:
        status, note, measurement = item.action()
    except KernelError as error:
        return Outcome(item.kind, item.name, "refused", str(error))
    except OutputError:
        raise
    except Exception as error:  # whatever it is, a GPU is rare and the other items still want it
        note = str(error) if isinstance(error, SimtmmError) else f"{type(error).__name__}: {shown_error(error)}"
        _write(failed, {"error": note, "provenance": provenance()})
        return Outcome(item.kind, item.name, "failed", note)
    if isinstance(measurement, Measurement):
        path.parent.mkdir(parents=True, exist_ok=True)
        save_measurement(measurement, path)
    else:
        _write(path, measurement)
    failed.unlink(missing_ok=True)
    return Outcome(item.kind, item.name, status, note)


def _items(builds: "_Builds", repeat: int, machine: str, shared_memory: int, architecture: int) -> Iterator[_Item]:
    """What there is to measure, the most needed first."""

    def timed(kernel: str | Kernel, given: Mapping[str, Any], cold: bool = True, form: str | None = None) -> Action:
        return lambda: ("done", "", measure(kernel, given, repeat=repeat, cold=cold, machine=machine, form=form))

    kernels = {name: kernel_in(folder) for name, folder in kernel_folders().items()}
    for name, kernel in kernels.items():
        builds.begin(kernel, _small(kernel))
        yield _Item("parity", name, f"parity {name}", _parity(kernel, builds))
    for each in benchmarks(shared_memory):
        yield _Item("benchmarks", each.name, each.family, timed(each.kernel, each.parameters, each.cold))
    for source, of in by_file((architecture // 10, architecture % 10)).items():
        stem = source.removesuffix(".cu")
        yield _Item("micro", stem, f"micro {stem}", timed(program(source, of), {"scale": MICRO_SCALE}, cold=False))
    for name, kernel in kernels.items():
        yield _Item("compiled", name, f"compiled {name}", _compiled_parity(kernel, architecture))
    for factor in FACTORS:
        for name, kernel in kernels.items():
            for given in _shapes(kernel, factor):
                words = "-".join(f"{key}{value}" for key, value in given.items())
                action = timed(kernel, given)
                yield _Item("times", f"{name}{'-' if words else ''}{words}", f"{name} {given.get('threads')}", action)
    for name, kernel in kernels.items():
        yield _Item("times", f"{name}-compiled", f"{name} compiled", timed(kernel, {}, form="compiled"))


def _shapes(kernel: Kernel, factor: int) -> Iterator[dict[str, Any]]:
    """Parameters for a factor of the default size, over block shapes; none where there is no size to change."""
    sizes: dict[str, Any] = {}
    if "n" in kernel.parameters:
        sizes["n"] = int(kernel.parameters["n"].default) * factor
    elif factor > 1:
        return
    shapes = [dict(sizes)]
    if "threads" in kernel.parameters:
        default = kernel.parameters["threads"].default
        shapes += [{**sizes, "threads": threads} for threads in BLOCKS if threads != default]
    for shape in shapes:
        with contextlib.suppress(KernelError):
            kernel.resolve(shape)
            yield shape


# --- the same trace on both -------------------------------------------------------------------------------------------


def is_racy(kernel: Kernel) -> bool:
    """Whether the order of threads decides what the kernel does, as a sentence of its docstring says.

    It begins "Racy:" where accesses race, and explains why they may; "Unordered:" where what atomics give back decides.
    """
    return re.search(r"(?:^|[.!?\n])\s*(?:Racy|Unordered):", kernel.about) is not None


def _small(kernel: Kernel) -> dict[str, Any]:
    """Parameters of a small program."""
    size = kernel.parameters.get("n")
    return {"n": SMALL} if size is not None and isinstance(size.default, int) and size.default > SMALL else {}


def _parity(kernel: Kernel, builds: "_Builds") -> Action:
    def compare() -> tuple[str, str, Any]:
        builds.wait(kernel)
        parameters = _small(kernel)
        return _compared(kernel, record(kernel, parameters), record(kernel, parameters, on="gpu"))

    return compare


def _compiled_parity(kernel: Kernel, architecture: int) -> Action:
    def compare() -> tuple[str, str, Any]:
        cpu, gpu = (record(kernel, _small(kernel), on, form="ptx", architecture=architecture) for on in ("cpu", "gpu"))
        return _compared(kernel, cpu, gpu)

    return compare


def _compared(kernel: Kernel, cpu: Trace, gpu: Trace) -> tuple[str, str, Any]:
    """Whether the traces of a kernel are the same: status, note, and what is written."""
    racy = is_racy(kernel)
    equal = cpu.info.digest == gpu.info.digest
    difference = None if equal else first_difference(cpu, gpu)
    document = {
        "kernel": kernel.name,
        "parameters": cpu.info.parameters,
        "equal": equal,
        "racy": racy,
        "first_difference": difference,
        "cpu": {"digest": cpu.info.digest, "events": cpu.info.events, **cpu.info.provenance},
        "gpu": {"digest": gpu.info.digest, "events": gpu.info.events, **gpu.info.provenance},
    }
    if equal or racy:
        return "done", "" if equal else f"racy, and different on the GPU: {difference}", document
    return "differs", str(difference), document


def first_difference(one: Trace, other: Trace) -> str:
    """Where two traces of a program first part, in words."""
    if one.info.launches != other.info.launches:
        return f"{len(one.info.launches)} launches and {len(other.info.launches)}, or of different shapes"
    mine, others = one.to_table(), other.to_table()
    least = min(len(mine), len(others))
    unequal = np.zeros(least, dtype=bool)
    for name in mine.column_names:
        unequal |= mine[name].to_numpy()[:least] != others[name].to_numpy()[:least]
    if not np.any(unequal):
        return f"{len(mine):,} events and {len(others):,}, equal as far as both go"
    row = int(np.argmax(unequal))
    rows = (table.slice(row, 1).to_pylist()[0] for table in (mine, others))
    return f"event {row}: {next(rows)} and {next(rows)}"


class _Builds:
    """Compiles the kernels' builds for the CPU side by side, ahead of when they are wanted."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._begun: dict[str, Future[Path]] = {}

    def begin(self, kernel: Kernel, parameters: Mapping[str, Any]) -> None:
        """Compile it some time soon."""
        self._begun[kernel.name] = self._pool.submit(build, kernel, kernel.defines(kernel.resolve(parameters)))

    def wait(self, kernel: Kernel) -> None:
        """Until it is compiled; a recording says what went wrong."""
        with contextlib.suppress(CompilerError, KernelError):
            self._begun[kernel.name].result()


@contextlib.contextmanager
def _building() -> Iterator[_Builds]:
    pool = ThreadPoolExecutor(cores(), "simtmm-build")
    try:
        yield _Builds(pool)
    finally:
        pool.shutdown(cancel_futures=True)


# --- what is written --------------------------------------------------------------------------------------------------


def _write(path: Path, document: Any) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path.parent}: can't be created ({error.strerror})") from None
    with written_whole(path) as temporary:
        temporary.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _tables(place: Path) -> None:
    """Benchmarks and micro-kernels as tables, latency.csv, stream.csv and micro.csv, of what is measured so far."""
    benchmarked, micro = (_measurements(place / name) for name in ("benchmarks", "micro"))
    for name, lines in (
        ("latency.csv", latency_table(benchmarked, place.name)),
        ("stream.csv", stream_table(benchmarked, place.name)),
        ("micro.csv", micro_table(micro, place.name)),
    ):
        if lines:
            write_lines(place / name, lines)


def _measurements(folder: Path) -> dict[str, Measurement]:
    """Those in a folder, by name."""
    paths = sorted(folder.glob("*.json"))
    return {path.stem: load_measurement(path) for path in paths if not path.name.endswith(".failed.json")}
