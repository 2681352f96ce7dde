"""A run beside Nsight Compute's numbers, as tables."""

from rich.table import Table

from simtmm.analysis.nsight import Beside, Compared
from simtmm.measurement.nsight import COUNTED
from simtmm.report.text import table


def _difference(compared: Compared) -> str:
    if compared.difference is None:
        return ""
    if COUNTED[compared.name].is_share:
        return f"{100 * compared.difference:+.0f} points"
    return f"{100 * compared.difference:+.1f} %"


def describe_beside(found: Beside) -> list[str | Table]:
    """A table a launch: each quantity simulated, measured, and by how much they differ.

    found: launches of an export beside a run's.
    """
    parts: list[str | Table] = []
    for launch in found.launches:
        rows = [
            (
                COUNTED[each.name].words,
                COUNTED[each.name].show(each.simulated),
                COUNTED[each.name].show(each.measured),
                _difference(each),
            )
            for each in launch.compared
        ]
        title = f"Launch {launch.number} of {launch.kernel}, compared with Nsight Compute"
        parts += ["", table(title, ("", "simulated", "measured", "difference"), rows)]
    if found.left_out:
        parts += ["", f"Measured, but not launched here: {', '.join(found.left_out)}."]
    return parts
