"""Measurements of the hierarchy: strides and buffers of the L1, buffers of the L2, and small kernels."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from simtmm.calibration.csv_rows import chosen_gpu, positive_number, read_rows, whole_number
from simtmm.errors import StudyError, shown
from simtmm.machine import Machine
from simtmm.measurement.timings import Timing, has_seconds, load_timings

Kind = Literal["strides", "caches", "l2", "small"]
KINDS: tuple[Kind, ...] = ("strides", "caches", "l2", "small")
ELEMENT_BYTES = {"float": 4, "double": 8, "float4": 16}
LEAST_KILOBYTES = 8  # of a buffer of `caches`: smaller ones are read by too few threads to keep an L1 busy
OF_L1 = 0.5  # of an L1's bytes, up to which a buffer is surely in it
OF_L2 = 0.8  # likewise of an L2, whose copies share it
PART_KILOBYTES = 512  # that a block of `l2` reads
MOST_ROWS: dict[Kind, int] = {"strides": 48, "caches": 16, "l2": 4, "small": 48}  # of a set that are fitted
USUAL_THREADS = 256  # of a block of a small kernel whose row does not say
GRAPH, BARRIERS = "_graph", "_gsync"  # ends of a name in the column `run`
NEEDED: dict[Kind, tuple[str, ...]] = {
    "strides": ("type", "kernel", "parameter", "pitch", "cycles_per_warp_load"),
    "caches": ("kB_per_block", "GB_per_s"),
    "l2": ("kB_in_all", "GB_per_s"),
    "small": ("run", "elements", "block", "GB_per_s"),
}


@dataclass(frozen=True)
class Row:
    """A measured point.

    case: what it is, in words.
    of: numbers and words that say what ran.
    measured: cycles of a warp's load (strides), seconds of a launch (small), or bytes a second.
    """

    case: str
    of: Mapping[str, int | str]
    measured: float


@dataclass(frozen=True)
class MeasuredSet:
    """The rows of a kind. called: what sources call it. rows: those that are fitted. others: of the rest, by reason."""

    kind: Kind
    called: str
    rows: tuple[Row, ...]
    others: Mapping[str, int]


def load_set(kind: Kind, path: str | Path, gpu: str | None, machine: Machine) -> MeasuredSet:
    """The rows of a GPU in a CSV file that a machine's values decide.

    kind: strides, caches, l2 or small; docs/calibration.md has their columns.
    path: the file.
    gpu: whose rows count, if the file has several.
    machine: where its L1 and L2 end, rows are left out that others decide.

    Raises StudyError.
    """
    found = list(_READERS[kind](path, gpu))
    left_out: Counter[str] = Counter()
    rows = []
    for row in found:
        if why := _why_not(kind, row, machine):
            left_out[why] += 1
        else:
            rows.append(row)
    if not rows:
        reasons = "; ".join(f"{why} ({count})" for why, count in left_out.items())
        raise StudyError(f"{path}: has no row that a value of {machine.name} decides: {reasons}")
    if len(rows) > (most := MOST_ROWS[kind]):
        left_out["not needed: others of the file are like them"] += len(rows) - most
        rows.sort(key=lambda row: tuple((isinstance(value, str), value) for value in row.of.values()))
        rows = [rows[round(at * (len(rows) - 1) / (most - 1))] for at in range(most)]
    called = f"{Path(path).name}, {gpu}" if gpu else Path(path).name
    return MeasuredSet(kind, called, tuple(rows), dict(left_out))


def _why_not(kind: Kind, row: Row, machine: Machine) -> str | None:
    """Why a row decides nothing; None where it does."""
    l1, l2 = machine.memory.l1, machine.memory.l2
    kilobytes = int(row.of.get("kilobytes", 0))
    if kind == "caches":
        if kilobytes < LEAST_KILOBYTES:
            return f"a buffer below {LEAST_KILOBYTES} kB"
        if l1 is None or kilobytes * 1024 > OF_L1 * l1.sets * l1.ways * machine.chunk_bytes:
            return "a buffer that the L1 may not hold"
    copies = l2.copies * l2.halves if l2 else 1
    room = l2.sets * l2.ways * machine.chunk_bytes / copies if l2 else 0
    if kind == "l2" and kilobytes * 1024 > OF_L2 * room:
        return "a buffer that the L2 may not hold"
    if kind == "small" and 16 * int(row.of["elements"]) > OF_L2 * room * copies:
        return "arrays that the L2 may not hold"
    return None


def _strides(path: str | Path, gpu: str | None) -> Iterator[Row]:
    for row in read_rows(path, gpu, NEEDED["strides"]):
        element = _word(path, row, "type", list(ELEMENT_BYTES))
        kernel = _word(path, row, "kernel", ["block", "stride"])
        parameter = whole_number(path, row, "parameter", 1 if kernel == "block" else 0)
        if kernel == "block" and (parameter > 1024 or 1024 % parameter):
            raise StudyError(f"{path}: parameter = {parameter}: of a block must be a divisor of 1024")
        pitch = whole_number(path, row, "pitch") if kernel == "block" else 0
        yield Row(
            f"{element}, {kernel} {parameter}",
            {"type": element, "kernel": kernel, "parameter": parameter, "pitch": pitch},
            positive_number(path, row, "cycles_per_warp_load"),
        )


def _caches(path: str | Path, gpu: str | None) -> Iterator[Row]:
    for row in read_rows(path, gpu, NEEDED["caches"]):
        element = _word(path, row, "type", list(ELEMENT_BYTES)) if row.get("type") else ""
        kilobytes = whole_number(path, row, "kB_per_block")
        bandwidth = positive_number(path, row, "GB_per_s") * 1e9
        yield Row(f"{kilobytes} kB", {"kilobytes": kilobytes, "type": element}, bandwidth)


def _l2(path: str | Path, gpu: str | None) -> Iterator[Row]:
    if has_seconds(path):
        for time in _timings(path, gpu, "read_parts"):
            kilobytes = int(time.parameters["kilobytes"])
            moved = 200_000 * PART_KILOBYTES * 1024  # docs/calibration.md: blocks of a run
            yield Row(f"{kilobytes} kB", {"kilobytes": kilobytes}, moved / time.seconds)
        return
    for row in read_rows(path, gpu, NEEDED["l2"]):
        kilobytes = whole_number(path, row, "kB_in_all")
        if kilobytes % PART_KILOBYTES:
            raise StudyError(f"{path}: kB_in_all = {kilobytes}: must be a multiple of {PART_KILOBYTES}")
        yield Row(f"{kilobytes} kB", {"kilobytes": kilobytes}, positive_number(path, row, "GB_per_s") * 1e9)


def _small(path: str | Path, gpu: str | None) -> Iterator[Row]:
    if has_seconds(path):
        way = "graph" if "graph" in Path(path).stem else "launch"
        for time in _timings(path, gpu, "quarter"):
            threads = str(time.parameters.get("threads", USUAL_THREADS))
            if not threads.isdigit() or not 1 <= int(threads) <= 1024:
                raise StudyError(f"{path}: threads = {shown(threads)}: must be a whole number from 1 to 1024")
            yield _launch(int(time.parameters["n"]), int(threads), way, time.seconds)
        return
    rows = read_rows(path, None, NEEDED["small"])
    chosen = chosen_gpu(path, gpu, {row["run"].removesuffix(GRAPH).removesuffix(BARRIERS) for row in rows})
    for row in rows:
        name = row["run"]
        if name.removesuffix(GRAPH) != chosen:
            continue
        elements, block = whole_number(path, row, "elements"), whole_number(path, row, "block")
        if block > 1024:
            raise StudyError(f"{path}: block = {block}: must be at most 1024 threads")
        seconds = 16 * elements / (positive_number(path, row, "GB_per_s") * 1e9)
        yield _launch(elements, block, "graph" if name.endswith(GRAPH) else "launch", seconds)


def _launch(elements: int, block: int, way: str, seconds: float) -> Row:
    of: dict[str, int | str] = {"way": way, "block": block, "elements": elements}
    return Row(f"{elements} elements, blocks of {block}, {way}", of, seconds)


def _timings(path: str | Path, gpu: str | None, kernel: str) -> list[Timing]:
    """The times of a kernel in a file of simtmm's own form."""
    times = [time for time in load_timings(path) if time.kernel == kernel]
    chosen = chosen_gpu(path, gpu, {time.machine for time in times})
    needed = "kilobytes" if kernel == "read_parts" else "n"
    for time in times:
        if not str(time.parameters.get(needed, "")).isdigit():
            raise StudyError(f"{path}: parameters of {kernel}: need {needed}, a whole number")
    return [time for time in times if time.machine == chosen]


def _word(path: str | Path, row: Mapping[str, str], column: str, known: Sequence[str]) -> str:
    if row[column] not in known:
        raise StudyError(f"{path}: {column} = {shown(row[column])}: must be one of {', '.join(known)}")
    return row[column]


_READERS = {"strides": _strides, "caches": _caches, "l2": _l2, "small": _small}
