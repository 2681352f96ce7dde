"""Rows of micro-benchmarks: times of an empty kernel, and latencies of single instructions.

Times: `kernel` (or `benchmark`), `parameters` as "threads=256;blocks=64", `seconds` (or `milliseconds`), and, if there,
`machine` (or `gpu`). Latencies: `sass`, the instruction by its name in machine code, `cycles` and, if there, `gpu`; a
column `class`, if there, says what class of work it is. Lines that begin with # are comments.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from simtmm.calibration.csv_rows import LEAST, MOST, chosen_gpu
from simtmm.cuda.sass.work import class_of_opcode
from simtmm.documents import duplicates, read_csv
from simtmm.errors import StudyError, nearest, shown
from simtmm.machine.tables.instructions import Instructions
from simtmm.machine.values import LARGEST_COUNT

EMPTY = ("empty", "emptykernel")
SHARED = "shared"  # the class of a load from shared memory, of which the machine has a key of its own
CLASSES = (*Instructions.model_fields, SHARED)
TIME_UNITS = {"seconds": 1.0, "milliseconds": 1e-3}
_ONE_INSTRUCTION = re.compile(r"[A-Z][A-Z0-9]*(\.[A-Z0-9]+)*")
_GPU = ("gpu", "machine")


@dataclass(frozen=True)
class EmptyLaunch:
    """A measured launch of an empty kernel. threads: of a block."""

    threads: int
    blocks: int
    seconds: float


@dataclass(frozen=True)
class InstructionLatency:
    """A measured instruction. work: its class, or "shared". cycles: until one that needs its value."""

    opcode: str
    work: str
    cycles: float


@dataclass(frozen=True)
class MicroRows:
    """The rows of a file that are used, of one GPU; left_out: how many were not, by what they are."""

    launches: tuple[EmptyLaunch, ...]
    latencies: tuple[InstructionLatency, ...]
    left_out: Mapping[str, int]


def load_micro(path: str | Path, gpu: str | None = None) -> MicroRows:
    """The rows of a CSV file of micro-benchmarks.

    gpu: whose rows count; needed where the file has several. Raises StudyError, with the line.
    """
    header, rows = _rows(path)
    chosen = _of_gpu(path, header, rows, gpu)
    launches: list[EmptyLaunch] = []
    latencies: list[InstructionLatency] = []
    left_out: Counter[str] = Counter()
    if "cycles" in header:
        _need(path, header, ("sass",))
        for place, row in chosen:
            found = _latency(place, row)
            if isinstance(found, str):
                left_out[found] += 1
            else:
                latencies.append(found)
    else:
        unit = next((name for name in TIME_UNITS if name in header), None)
        name = next((name for name in ("kernel", "benchmark") if name in header), None)
        if unit is None or name is None:
            raise StudyError(
                f"{path}: has neither the columns sass and cycles, of latencies of instructions, nor kernel, "
                "parameters and seconds, of an empty kernel"
            )
        _need(path, header, ("parameters",))
        for place, row in chosen:
            if row[name] in EMPTY:
                launches.append(_launch(place, row, unit))
            else:
                left_out[f"kernel {row[name]}"] += 1
    if not launches and not latencies:
        raise StudyError(f"{path}: has no row of an empty kernel, and none of a single instruction")
    return MicroRows(tuple(launches), tuple(latencies), dict(left_out))


def _rows(path: str | Path) -> tuple[list[str], list[tuple[str, dict[str, str]]]]:
    """The names of the columns, and each row with where it stands."""
    lines = [
        (number, line)
        for number, line in enumerate(read_csv(path, StudyError).splitlines(), start=1)
        if line.strip() and not line.startswith("#")
    ]
    if len(lines) < 2:
        raise StudyError(f"{path}: has no rows")
    (_, first), *rest = lines
    header = [name.strip() for name in _fields(f"{path}: line {lines[0][0]}", first)]
    if twice := duplicates(header):
        raise StudyError(f"{path}: column {shown(twice[0])}: appears more than once")
    rows = []
    for number, line in rest:
        place = f"{path}: line {number}"
        fields = _fields(place, line)
        if len(fields) != len(header):
            raise StudyError(f"{place}: must have {len(header)} columns, like the header, not {len(fields)}")
        rows.append((place, dict(zip(header, fields, strict=True))))
    return header, rows


def _fields(place: str, line: str) -> list[str]:
    try:
        return next(iter(csv.reader([line], strict=True)))
    except csv.Error as error:
        raise StudyError(f"{place}: is not CSV ({error})") from None


def _need(path: str | Path, header: Sequence[str], names: Sequence[str]) -> None:
    for name in names:
        if name not in header:
            raise StudyError(f"{path}: has no column {name!r}{nearest(name, header)}")


def _of_gpu(
    path: str | Path, header: Sequence[str], rows: Sequence[tuple[str, dict[str, str]]], gpu: str | None
) -> Iterator[tuple[str, dict[str, str]]]:
    column = next((name for name in _GPU if name in header), None)
    if column is None or not rows:
        return iter(rows)
    chosen = chosen_gpu(path, gpu, {row[column] for _, row in rows})
    return ((place, row) for place, row in rows if row[column] == chosen)


def _number(place: str, key: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not LEAST <= value <= MOST:
        raise StudyError(f"{place}: {key} = {shown(text)}: must be a number above 0, from {LEAST:g} to {MOST:g}")
    return value


def _latency(place: str, row: Mapping[str, str]) -> InstructionLatency | str:
    """A row of a latency, or what it is that is left out."""
    cycles, sass = _number(place, "cycles", row["cycles"]), row["sass"].strip()
    if not sass:
        raise StudyError(f"{place}: sass: is empty: must name the instruction, as FADD")
    if not _ONE_INSTRUCTION.fullmatch(sass):
        return "several instructions"
    opcode = sass.split(".")[0]
    work = row.get("class", "").strip() or (SHARED if opcode == "LDS" else class_of_opcode(opcode))
    if "class" in row and work not in CLASSES:
        raise StudyError(f"{place}: class = {shown(work)}: must be one of {', '.join(CLASSES)}{nearest(work, CLASSES)}")
    if work not in CLASSES or (work == SHARED and opcode != "LDS" and "class" not in row):
        return f"class {work}"
    return InstructionLatency(sass, work, cycles)


def _launch(place: str, row: Mapping[str, str], unit: str) -> EmptyLaunch:
    given: dict[str, int] = {}
    for word in row["parameters"].replace(";", " ").split():
        name, equals, text = word.partition("=")
        key = name if name.endswith("s") else f"{name}s"
        if not equals or key not in ("threads", "blocks") or key in given:
            raise StudyError(f"{place}: parameters = {shown(row['parameters'])}: must be threads=N;blocks=N")
        value = _number(place, name, text)
        if value != int(value) or value > LARGEST_COUNT:
            raise StudyError(f"{place}: {name} = {shown(text)}: must be a whole number from 1 to {LARGEST_COUNT}")
        given[key] = int(value)
    if len(given) < 2:
        raise StudyError(f"{place}: parameters = {shown(row['parameters'])}: must be threads=N;blocks=N")
    return EmptyLaunch(given["threads"], given["blocks"], _number(place, unit, row[unit]) * TIME_UNITS[unit])
