"""A run compared with all that profilers measured of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simtmm.analysis.nsight.copies import CopyBeside, copies_beside
from simtmm.analysis.nsight.launches import LaunchBeside, is_sampled, launches_beside, no_match
from simtmm.analysis.nsight.lines import KernelBeside, lines_beside
from simtmm.analysis.nsight.sums import SumBeside, sums_beside
from simtmm.errors import StudyError
from simtmm.measurement.nsight import Profile

if TYPE_CHECKING:
    from simtmm.analysis.run.outcome import Run


@dataclass(frozen=True)
class Beside:
    """A run compared with exports.

    launches: those of both, in the order of the run. kernels: lines of kernels of both. sums: kernels' launches
    together. copies: those between host and device, by direction. left_out: kernels that only the exports have.
    warnings: what was not compared, in words.
    """

    launches: tuple[LaunchBeside, ...] = ()
    kernels: tuple[KernelBeside, ...] = ()
    sums: tuple[SumBeside, ...] = ()
    copies: tuple[CopyBeside, ...] = ()
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

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
    warnings: tuple[str, ...] = ()
    if is_sampled(run):
        warnings = ("Only some blocks or launches were simulated: times and counts of launches are not compared.",)
    left_out = tuple(dict.fromkeys((*no_launch, *no_kernel, *no_sum)))
    return Beside(launches, kernels, sums, copies, left_out, warnings)
