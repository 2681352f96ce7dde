"""The page of `simtmm run --html` of a configuration."""

from simtmm.analysis.run import run_program
from simtmm.explorer.programs import Programs
from simtmm.explorer.simulation import ENGINE, MOST_TIMELINE, prepare
from simtmm.explorer.state import Configuration
from simtmm.report.explain_page import explanation


def explained(programs: Programs, configuration: Configuration) -> str:
    """The HTML. Raises the errors of recording and simulating (simtmm.errors)."""
    ready = prepare(programs, configuration)
    return explanation(run_program(ready.program, ready.machine, ENGINE, timeline=True, timeline_limit=MOST_TIMELINE))
