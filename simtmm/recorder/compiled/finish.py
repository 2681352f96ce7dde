"""The end of a recording of compiled kernels: its trace."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from simtmm.cuda.linked import LinkedModule
from simtmm.provenance import provenance
from simtmm.recorder.compiled.run import LaunchRuns
from simtmm.recorder.compiled.untimed import warning
from simtmm.trace.io import Trace
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.schema import TraceLaunch

MANY_PRINTS = 32  # calls: the fewer of a check or of one thread do not make a kernel slow


def finished(  # noqa: PLR0913, PLR0917 - all that a trace is made of
    recorder: TraceRecorder,
    name: str,
    parameters: Mapping[str, Any],
    launches: Sequence[TraceLaunch],
    runs: LaunchRuns,
    modules: Sequence[LinkedModule],
    warnings: Sequence[str] = (),
    sample_blocks: int | None = None,
    kept_blocks: Sequence[int] | None = None,
    kept_first: bool = False,
    origin: Mapping[str, Any] | None = None,
) -> Trace:
    """The trace of launches whose events a recorder has taken.

    name, parameters: of the program.
    launches: as `LaunchRuns.described` has them.
    runs: that ran them.
    modules: of their kernels, in the order in which they were launched first; at least one.
    warnings: what a reader of the trace must know.
    sample_blocks: most blocks of a launch that were recorded.
    kept_blocks: instead, blocks of each launch that were recorded.
    kept_first: whether these are the first ones.
    origin: a further note on where they were recorded.
    """
    told = list(warnings)
    if runs.timed:
        told.append(
            f"device clocks are estimated, as {', '.join(runs.timed)} read{'s' if len(runs.timed) == 1 else ''} them"
        )
    if runs.untimed:
        told.append(warning(runs.untimed))
    if runs.prints.total() >= MANY_PRINTS:
        told.append(_of_prints(runs.prints))
    told += [f"{kernel}: {race}" for kernel, race in runs.races.items()]
    text = "\0".join(unit.ptx for module in modules for unit in module.units)
    targets = [module.units[0].target for module in modules]
    entries = {
        **provenance(),
        "recorder": "compiled",
        "schedules": [schedule.to_dict() for schedule in runs.schedules],
        "source": hashlib.sha256(text.encode()).hexdigest()[:20],
        **({"mbarriers": sorted(runs.mbarriers)} if runs.mbarriers else {}),
        **({"warnings": told} if told else {}),
        **(origin or {}),
    }
    return recorder.finish(
        name,
        dict(parameters),
        list(launches),
        runs.table(),
        runs.sites.sites,
        entries,
        sample_blocks,
        form="compiled",
        architecture=max(targets, key=_number),
        warp_size=runs.device.properties.warp_size if runs.for_warps else None,
        kept_blocks=kept_blocks,
        kept_first=kept_first,
        listings=runs.listings,
    )


def _of_prints(prints: Counter[tuple[str, int]]) -> str:
    """The line for reports. prints: calls of printf, by file and line."""
    ((file, line), _), *others = prints.most_common()
    where = f"{file}:{line}" if line else file
    more = f" and {len(others)} more line{'s' * (len(others) > 1)}" if others else ""
    return (
        f"printf at {where}{more} was called {prints.total():,} times: what that takes of a GPU (arguments go to a "
        "buffer in its memory, which the host prints) is not simulated; leave it out to time the kernel"
    )


def _number(target: str) -> tuple[int, str]:
    digits = target.removeprefix("sm_").rstrip("af")
    return int(digits) if digits.isdecimal() else 0, target
