"""Rows of a comparison that a user can send."""

from pathlib import Path
from typing import TYPE_CHECKING

from simtmm.analysis.nsight.beside import Beside
from simtmm.analysis.nsight.device import other_clock, other_gpu
from simtmm.errors import StudyError
from simtmm.measurement.contributed import Contributed, append_contributed, label_of

if TYPE_CHECKING:
    from simtmm.analysis.run.outcome import Run


def keep_rows(path: str | Path, run: "Run", found: Beside) -> int:
    """Append a row for each quantity of each launch compared, and give how many are new.

    A time of another clock than the machine's is no row: it says nothing of the machine.

    path: of a CSV file.
    run: that was compared.
    found: the comparison.

    Raises StudyError for a file of another form, where no launch was compared, or where another GPU was measured than
    the machine; OutputError.
    """
    assert run.info is not None
    other = next(filter(None, (other_gpu(run.machine, launch.device) for launch in found.launches)), "")
    if other:
        raise StudyError(f"--keep-row: {other}: give the machine that was measured with --machine")
    if not any(launch.compared for launch in found.launches):
        raise StudyError("--keep-row: needs launches: give the pages raw or details of ncu, or cuda_gpu_trace of nsys")
    rows = []
    for launch in found.launches:
        own = run.info.launches[launch.number]
        rows += [
            Contributed(
                machine=label_of(run.machine.name),
                machine_digest=run.machine.digest(),
                gpu=launch.device.name,
                kernel=launch.kernel,
                grid="x".join(map(str, own.grid)),
                block="x".join(map(str, own.block)),
                launch=launch.number,
                quantity=each.name,
                measured=float(f"{each.measured:.9g}"),
                simulated=float(f"{each.simulated:.9g}"),
                tool=launch.tool,
                simtmm=str(run.provenance["simtmm"]),
            )
            for each in launch.compared
            if each.name != "seconds" or not other_clock(run.machine, launch.device)
        ]
    return append_contributed(path, rows)
