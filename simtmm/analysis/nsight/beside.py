"""A run compared with all that profilers measured of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.analysis.nsight.copies import CopyBeside, copies_beside
from simtmm.analysis.nsight.device import device_warnings
from simtmm.analysis.nsight.launches import Compared, LaunchBeside, is_sampled, launches_beside, no_match
from simtmm.analysis.nsight.lines import KernelBeside, lines_beside
from simtmm.analysis.nsight.sums import SumBeside, sums_beside
from simtmm.display import Displayed
from simtmm.errors import OutputError, StudyError, nearest, shown
from simtmm.extras import frame
from simtmm.measurement.nsight import Profile, load_profile

if TYPE_CHECKING:
    import pandas

    from simtmm.analysis.run.outcome import Run

WHAT = ("launch", "line", "kernel", "copy")  # what a row of a comparison is of
_PLACE = ("launch", "file", "line", "source")
_NUMBERS = ("launch", "line")  # of them, those that are whole numbers


@dataclass(frozen=True, repr=False)
class Beside(Displayed):
    """A run compared with what a profiler measured on a GPU, as `Run.beside` gives it (docs/counters.md).

    launches: those of both, in the order of the run.
    kernels: lines of kernels of both.
    sums: kernels' launches together.
    copies: those between host and device, by direction.
    left_out: kernels that only the exports have.
    warnings: what was not compared, in words.
    """

    launches: tuple[LaunchBeside, ...] = ()
    kernels: tuple[KernelBeside, ...] = ()
    sums: tuple[SumBeside, ...] = ()
    copies: tuple[CopyBeside, ...] = ()
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        lines = sum(len(kernel.lines) for kernel in self.kernels)
        parts = {"launches": len(self.launches), "lines": lines, "kernels": len(self.sums), "copies": len(self.copies)}
        parts["left out"] = len(self.left_out)
        return f"Beside({', '.join(f'{words}: {number}' for words, number in parts.items() if number)})"

    def rows(self, of: str | None = None) -> list[dict[str, Any]]:
        """A row for each quantity compared: of what it is, both values in its unit, and the error.

        The error is simulated / measured - 1, and simulated - measured for shares; None where 0 was measured.

        of: "launch", "line" (of source), "kernel" (its launches together) or "copy"; all if left out.

        Raises OutputError for another `of`.
        """
        if of is not None and of not in WHAT:
            raise OutputError(f"of = {shown(of)}: must be one of {', '.join(WHAT)}{nearest(str(of), WHAT)}")
        return [
            {
                **place,
                "quantity": each.name,
                "unit": each.unit,
                "simulated": each.simulated,
                "measured": each.measured,
                "error": each.difference,
            }
            for place, compared in self._places()
            if of in (None, place["of"])
            for each in compared
        ]

    def _places(self) -> Iterator[tuple[dict[str, Any], Sequence[Compared]]]:
        """What each row is of, all with the same keys, and what was compared of it."""
        nothing = dict.fromkeys(_PLACE)
        for launch in self.launches:
            yield {"of": "launch", "kernel": launch.kernel, **nothing, "launch": launch.number}, launch.compared
        for kernel in self.kernels:
            for line in kernel.lines:
                where = {"file": line.file, "line": line.line, "source": line.text}
                yield {"of": "line", "kernel": kernel.kernel, **nothing, **where}, line.compared
        for one in self.sums:
            yield {"of": "kernel", "kernel": one.kernel, **nothing}, one.compared
        for copy in self.copies:
            yield {"of": "copy", "kernel": copy.operation, **nothing}, copy.compared

    def to_frame(self, of: str | None = None) -> "pandas.DataFrame":
        """The rows, for pandas; columns of places that none of them fills are left out.

        of: as `rows` takes it.

        Raises OutputError for another `of`, and if pandas is not installed.
        """
        rows = self.rows(of)
        unused = [name for name in _PLACE if all(row[name] is None for row in rows)]
        made = frame([{name: value for name, value in row.items() if name not in unused} for row in rows])
        return made.astype({name: "Int64" for name in _NUMBERS if name in made})  # whole, beside rows without one too

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {
            "launches": [each.to_dict() for each in self.launches],
            "kernels": [each.to_dict() for each in self.kernels],
            "sums": [each.to_dict() for each in self.sums],
            "copies": [each.to_dict() for each in self.copies],
            "left_out": list(self.left_out),
            "warnings": list(self.warnings),
        }


def beside(run: "Run", profile: Profile) -> Beside:
    """Match what was measured with a run's launches, kernels and lines.

    Raises StudyError where the run has no launches of a trace, or none that was measured, or where a name may be that
    of several kernels.

    run: one of a trace.
    profile: what exports say.
    """
    if run.info is None or run.result.stalls is None:
        raise StudyError(f"{run.program}: has no kernel launches to compare with a profile")
    launches, no_launch = launches_beside(run, profile.launches)
    kernels, no_kernel = lines_beside(run, profile.pages)
    sums, no_sum = sums_beside(run, profile.sums)
    copies = copies_beside(run, profile.copies)
    if not (launches or kernels or sums or copies):
        if profile.launches:
            raise no_match(run, [launch for _, launch in profile.launches])
        measured = ", ".join([*no_kernel, *no_sum]) or "only copies and fills"
        mine = ", ".join(dict.fromkeys(launch.kernel for launch in run.info.launches))
        raise StudyError(f"no measured kernel matches this run: measured {measured}; simulated {mine}")
    warnings = tuple(device_warnings(run.machine, [launch.device for launch in launches]))
    if is_sampled(run):
        warnings += ("Only some blocks or launches were simulated: times and counts of launches are not compared.",)
    left_out = tuple(dict.fromkeys((*no_launch, *no_kernel, *no_sum)))
    return Beside(launches, kernels, sums, copies, left_out, warnings)


def opened_profile(files: Sequence[str | Path]) -> Profile:
    """What files of exports say, each checked to be a path.

    files: as `load_profile` takes them.

    Raises StudyError, as `load_profile` does, and where there is no file.
    """
    for each in files:
        if not isinstance(each, (str, Path)):
            raise StudyError(f"files: {shown(each)}: each must be a path to a CSV file of ncu or nsys")
    if not files:
        raise StudyError("files: none given: must be at least one CSV file of ncu or nsys")
    return load_profile(files)
