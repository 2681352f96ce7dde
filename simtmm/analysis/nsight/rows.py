"""Rows of a comparison that a user can send."""

from pathlib import Path
from typing import TYPE_CHECKING

from simtmm.analysis.nsight.beside import Beside
from simtmm.errors import StudyError
from simtmm.measurement.contributed import Contributed, append_contributed

if TYPE_CHECKING:
    from simtmm.analysis.run.outcome import Run


def keep_rows(path: str | Path, run: "Run", found: Beside) -> int:
    """Append a row for each quantity of each launch compared, and give how many are new.

    path: of a CSV file.
    run: that was compared.
    found: the comparison.

    Raises StudyError for a file of another form, or where no launch was compared; OutputError.
    """
    assert run.info is not None
    if not any(launch.compared for launch in found.launches):
        raise StudyError("--keep-row: needs launches: give the pages raw or details of ncu, or cuda_gpu_trace of nsys")
    rows = []
    for launch in found.launches:
        own = run.info.launches[launch.number]
        rows += [
            Contributed(
                machine=run.machine.name,
                machine_digest=run.machine.digest(),
                gpu=launch.gpu,
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
        ]
    return append_contributed(path, rows)
