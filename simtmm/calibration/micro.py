"""A machine's values from micro-benchmarks: launch costs and instruction latencies."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from simtmm.calibration.instruction_latencies import latencies_by_class
from simtmm.calibration.launch_costs import fit_launch_costs
from simtmm.calibration.micro_rows import load_micro
from simtmm.calibration.values import Calibration, Value, with_sources, with_values
from simtmm.errors import StudyError
from simtmm.machine import Machine


def calibrate_micro(name: str, paths: Sequence[str | Path], base: Machine, gpu: str | None = None) -> Calibration:
    """The machine with what files of micro-benchmarks say instead of its own values.

    name: the new machine's. paths: CSV files, see micro_rows.py. base: all that they do not say. gpu: whose rows count,
    where files have several.

    Raises StudyError for files that can't be understood, do not tell values apart, or give a value twice.
    """
    values: list[Value] = []
    notes: list[str] = []
    for path in paths:
        rows = load_micro(path, gpu)
        called = f"{Path(path).name}, {gpu}" if gpu else Path(path).name
        found = latencies_by_class(rows.latencies, called)
        if rows.launches:
            costs, told = fit_launch_costs(base, rows.launches, called)
            found += costs
            notes.append(told)
        for value in found:
            if any(other.key == value.key for other in values):
                raise StudyError(f"{path}: {value.key}: another file also gives it")
        values += found
        if rows.left_out:
            counted = ", ".join(f"{what} ({count})" for what, count in Counter(rows.left_out).most_common())
            notes.append(f"{called}: rows not used: {counted}")
    if any(value.key.startswith("instructions.") for value in values):
        notes.append("instruction latencies matter if a trace has no stalls (docs/machine.md, section 9)")
    machine = with_values(base, values).model_copy(update={"name": name})
    return Calibration(with_sources(machine, base, values), tuple(values), (), None, (), tuple(notes))
