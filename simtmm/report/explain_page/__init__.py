"""A run explained, as one HTML file: what binds it, where in the program, and how the machine's units were used.

The file needs nothing beside it and no network, as those of simtmm.report.page, whose frame it has.
"""

from collections.abc import Sequence
from pathlib import Path

from simtmm.analysis.run.outcome import Run
from simtmm.analysis.units import Unit
from simtmm.files import write_text, written_whole
from simtmm.report.explain_page.content import content, title_of
from simtmm.report.explain_page.heat import MeasuredLines
from simtmm.report.page import document

HERE = Path(__file__).parent


def explanation(run: Run, units: Sequence[Unit] | None = None, profiled: MeasuredLines | None = None) -> str:
    """The HTML.

    units: how busy the machine's units were; worked out if left out. profiled: what a GPU's profiler says of lines.
    """
    return document("explain", title_of(run), content(run, units, profiled=profiled), HERE, ("lanes",))


def write_explanation(
    path: str | Path, run: Run, units: Sequence[Unit] | None = None, profiled: MeasuredLines | None = None
) -> None:
    """Write the HTML. Raises OutputError.

    profiled: what a GPU's profiler says of lines.
    """
    text = explanation(run, units, profiled)
    with written_whole(path) as temporary:
        write_text(temporary, text)
