"""What is drawn of a run: what the page of `simtmm run --html` has, as far as it can be drawn anew at each move."""

from typing import Any

from simtmm.analysis.run.outcome import Run
from simtmm.explorer.simulation import Ready
from simtmm.report.explain_page.content import content

MOST_SLICES = 12_000  # of the timeline: a tenth of a megabyte
LEFT_OUT = ("overTime", "about", "arrays", "start")


def views(ready: Ready, run: Run) -> dict[str, Any]:
    """For the page, as JSON: what `content` says, the simulated time, and occupancy."""
    shown = content(run, None, MOST_SLICES, is_over_time=False)
    for name in LEFT_OUT:
        shown.pop(name)
    if shown["heat"] is not None:
        shown["heat"] = {
            **shown["heat"],
            "hot": [
                {name: value for name, value in line.items() if name not in ("made", "code")}
                for line in shown["heat"]["hot"]
            ],
        }
    return {
        **shown,
        "program": ready.configuration.program,
        "machine": run.machine.name,
        "binds": run.verdict.cause,
        "cycles": run.result.cycles,
        "seconds": run.result.seconds,
        "operations": ready.prepared.workload.operations,
        "occupancy": [{"launches": launches, **occupancy.to_dict()} for occupancy, launches in run.occupancies],
        "hiding": None
        if run.hiding is None
        else {"needed": run.hiding.needed, "inUse": run.hiding.in_use, "limit": run.hiding.limit},
    }
