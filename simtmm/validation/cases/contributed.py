"""What users with a GPU sent: traces/measured/contributed/*.csv, a table for each quantity.

Simulated values are those of the version that the sender had: a program that was sent by nobody is not simulated anew.
No machine is fitted to these rows.
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from simtmm.errors import StudyError
from simtmm.files import shipped_folders
from simtmm.measurement.contributed import Contributed, load_contributed
from simtmm.measurement.nsight import COUNTED
from simtmm.model.series import SIMULATED
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.cases import Tables
from simtmm.watch import Watch

FOLDER = "measured/contributed"
LEAST_SHARE = 0.01
UNITS = {"seconds": (1e6, "us"), "bytes_read": (1e-6, "MB")}


def files() -> list[Path]:
    """The files that were sent, in the order of their names; none where there is no folder."""
    return sorted(path for root in shipped_folders("traces")[:1] for path in (root / FOLDER).glob("*.csv"))


def reproduce(watch: Watch | None = None) -> Tables:
    """A table for each quantity that was sent. Raises StudyError for a row that can't be understood."""
    return tables(files())


def sample(watch: Watch | None = None) -> Tables:
    """The same: nothing is simulated."""
    return reproduce(watch)


def tables(paths: Sequence[Path]) -> Tables:
    """A table for each quantity of files, in the order of COUNTED; without values measured as 0, which have no error.

    Nor have shares below LEAST_SHARE, such as hits of one load in a thousand: whatever is simulated, a part of so
    little would be far off.

    paths: of the files.

    Raises StudyError, also for a row that two files have.
    """
    rows: dict[Contributed, str] = {}
    for path in paths:
        for row in load_contributed(path):
            if row in rows:
                raise StudyError(f"{path}: {row.kernel}, {row.quantity}: is in {rows[row]} too: must be sent once")
            rows[row] = path.name
    found: dict[str, list[tuple[Contributed, str]]] = defaultdict(list)
    for row, file in rows.items():
        if row.measured > (LEAST_SHARE if COUNTED[row.quantity].is_share else 0):
            found[row.quantity].append((row, file))
    return tuple(_table(name, found[name]) for name in COUNTED if name in found)


def _table(name: str, rows: Sequence[tuple[Contributed, str]]) -> Accuracy:
    factor, unit = UNITS.get(name, (100.0, "%") if COUNTED[name].is_share else (1.0, "count"))
    points = tuple(
        Measured(
            f"{row.machine}, {row.kernel}, {row.grid} blocks of {row.block} threads, launch {row.launch}, "
            f"{row.gpu or 'GPU not named'}, {row.tool}, simtmm {row.simtmm}, machine {row.machine_digest[:8]}, {file}",
            row.measured * factor,
            {SIMULATED: row.simulated * factor},
            group=row.machine,
        )
        for row, file in rows
    )
    machines = ", ".join(dict.fromkeys(row.machine.replace(", ", "; ") for row, _ in rows))  # commas stand between them
    left = f" Shares below {LEAST_SHARE:.0%} are left out." if COUNTED[name].is_share else ""
    return Accuracy(
        name=f"contributed-{name.replace('_', '-')}",
        title=f"Sent in by users: {COUNTED[name].words.partition(',')[0]}",
        quantity=COUNTED[name].words.partition(",")[0],
        unit=unit,
        points=points,
        calibrated="nothing",
        origin=f"profiles that users sent, in traces/{FOLDER}: {', '.join(dict.fromkeys(file for _, file in rows))}",
        machine=machines,
        notes=(f"Simulated values are those that the sender's version of simtmm gave.{left}",),
    )
