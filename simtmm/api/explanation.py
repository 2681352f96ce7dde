"""Where a run's time goes, as an object: rows, a page, and its display in Jupyter."""

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.display import Displayed
from simtmm.errors import OutputError, nearest, shown
from simtmm.extras import frame
from simtmm.requests.run import BY

if TYPE_CHECKING:
    import pandas

    from simtmm.analysis.nsight import Beside
    from simtmm.analysis.run.outcome import Run

HEIGHT = 760  # pixels of the page in a notebook


@dataclass(frozen=True)
class Explanation(Displayed):
    """Where a run's time goes.

    run: the run. by: what each row describes, "line", "array", "launch" or "reason".
    beside: what a profiler measured of it, which the page shows at each line; None without one.
    """

    run: "Run"
    by: str = "line"
    beside: "Beside | None" = None

    @staticmethod
    def check(by: str) -> None:
        """Raise OutputError for an unknown `by`."""
        if by not in BY:
            raise OutputError(f"by = {shown(by)}: must be one of {', '.join(BY)}{nearest(str(by), BY)}")

    def rows(self) -> list[dict[str, Any]]:
        """The rows, as in --json: place, ticks, what warps did there, and counts."""
        from simtmm.report.explain import document

        return [dict(row) for row in document(self.run, self.by)]

    def to_frame(self) -> "pandas.DataFrame":
        """The rows, for pandas. Raises OutputError if pandas is not installed."""
        return frame(self.rows())

    def html(self) -> str:
        """The page: verdict, advice, source with reasons, timeline, roofline; it needs no network."""
        from simtmm.report.explain_page import explanation
        from simtmm.report.nsight import measured_lines

        return explanation(self.run, profiled=None if self.beside is None else measured_lines(self.beside))

    def save(self, path: str | Path) -> None:
        """Write the page (.html), the rows (.csv), or everything (.json). Raises OutputError."""
        import json

        from simtmm.files import write_text, written_whole
        from simtmm.report.text import csv_of

        suffix = Path(path).suffix
        if suffix not in (".html", ".csv", ".json"):
            raise OutputError(f"{path}: must end in .html, .csv or .json")
        if suffix == ".html":
            text = self.html()
        elif suffix == ".csv":
            text = csv_of(self.rows())
        else:
            measured = {} if self.beside is None else {"nsight": self.beside.to_dict()}
            text = json.dumps({**self.run.to_dict(), "by": self.by, "rows": self.rows(), **measured}, indent=2) + "\n"
        with written_whole(path) as temporary:
            write_text(temporary, text)

    def __repr__(self) -> str:
        return f"Explanation({self.run!r}, by {self.by})"

    def _repr_html_(self) -> str:
        """The page in a frame of its own, whose styles and scripts don't touch the notebook."""
        return (
            f'<iframe srcdoc="{escape(self.html(), quote=True)}" style="width:100%;height:{HEIGHT}px;border:0" '
            'sandbox="allow-scripts"></iframe>'
        )
