"""A verdict in one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

from simtmm.analysis.source_changes.uneven import Uneven
from simtmm.analysis.turns import lock_of
from simtmm.analysis.waves import in_waves
from simtmm.analysis.what_if import HELPS, MORE_WARPS, WORTH_TRYING, WhatIf
from simtmm.engine import causes
from simtmm.engine.causes import Where
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.trace.streamed import AnyWorkload

LARGE_SHARE = 0.5  # of the time: worth being named
IDLE_SHARE = 0.25  # of the time in which core groups have no block: worth being named beside what binds
WORTH_NAMING = 0.1  # of the time: what starting the only launch takes
FEW_EACH = 8  # blocks for each core group, up to which an odd one shows
OF_IDLE_GROUPS = (causes.FEW_BLOCKS, causes.TAIL, causes.UNEVEN)
MENDS = {
    causes.FEW_BLOCKS: "more blocks, or smaller ones,",
    causes.TAIL: "smaller blocks, or as many as fill the core groups evenly",
    causes.UNEVEN: "sharing out its work",
    causes.GROUPS_PATH: "more blocks, on more core groups",
    causes.LAUNCHES: "fewer launches, or more work in each",
    causes.BLOCK_STARTS: "larger blocks, or more work in each",
}
OF_ONE_LAUNCH = "more work in it (a larger problem, several at once, or kernels fused)"


@dataclass(frozen=True)
class Told:
    """What a sentence says.

    cause, share, parameter, where, what_ifs: as in a verdict. behind: the cause behind it, None without one.
    placing: why nothing was tried; "" if it was. part: of the run, on which it was tried; "" for all.
    empty: the part of the time in which core groups have no work.
    is_one_of_many: whether nothing binds alone. is_of_no_help: whether relieving the cause does not help.
    long: the launch whose blocks are uneven. long_at: where the longest of these does most.
    apart: the part of the time that starting the only launch takes, beside the kernel; 0 where it is not set apart.
    """

    cause: str
    share: float
    parameter: str
    where: Where | None
    behind: str | None
    what_ifs: tuple[WhatIf, ...]
    placing: str
    part: str
    empty: float
    is_one_of_many: bool
    is_of_no_help: bool
    long: Uneven | None
    long_at: Where | None = None
    apart: float = 0.0


def sentence(machine: Machine, result: Result, workload: AnyWorkload, told: Told) -> str:
    """All of it in words."""
    is_of_groups = told.cause in OF_IDLE_GROUPS
    is_of_launch = told.cause == causes.LAUNCHES and workload.launches == 1
    if is_of_groups:
        words = _of_idle_groups(machine, result, workload, told)
    else:
        words = _of_launch(machine, result, workload, told) if is_of_launch else _of_cause(told)
    if told.behind is not None:
        takes = "take" if told.behind in causes.PLURALS or " and " in told.behind else "takes"
        at = f", at {told.where}" if told.where else ""
        words += f"; behind that, {told.behind} {takes} most{at}"
    if told.placing:
        words += f" ({told.placing})"
    elif told.what_ifs:
        tried = ", ".join(f"{each.words} {each.speedup:.2f}x" for each in _worth_telling(told))
        words += f"; with {tried}" if tried else ""
        words += f" (tried on {told.part})" if tried and told.part else ""
    if told.cause in MENDS and (told.cause != causes.GROUPS_PATH or told.empty >= LARGE_SHARE):
        mend = OF_ONE_LAUNCH if is_of_launch else MENDS[told.cause]
        lock = lock_of(result.stalls) if told.cause == causes.FEW_BLOCKS else None
        if lock is None:
            words += f"; {mend} would help"
        else:
            words += f"; but threads take turns at a lock at {lock.file}:{lock.line}, where more blocks would wait"
    if told.apart >= WORTH_NAMING:
        words += f"; starting the launch takes {_percent(told.apart)}, {_times(machine, result, told.apart)}"
        words += f", which {OF_ONE_LAUNCH} would hide" if told.apart >= IDLE_SHARE else ""
    if not is_of_groups and told.empty >= IDLE_SHARE:
        words += f"; core groups have no block for {_percent(told.empty)} of the time"
        words += _odd_blocks(machine, result, workload)
    return f"{words}."


def _of_cause(told: Told) -> str:
    """What binds, how much of the time, and where."""
    together = next((each for each in told.what_ifs if each.cause == told.cause and each.together), None)
    many = together is not None or told.cause in causes.PLURALS
    is_bound = told.share >= causes.MOSTLY and not told.is_one_of_many and not told.is_of_no_help
    verb = ("bind" if many else "binds") if is_bound else ("take most" if many else "takes most")
    if together is not None and not told.is_one_of_many:
        verb = f"{'bind' if told.share >= causes.MOSTLY else 'take most'} together"
    if not is_bound and told.apart >= WORTH_NAMING and not told.is_one_of_many:
        verb += " beside the launch"
    cause = f"{told.cause} ({told.parameter})" if told.parameter else told.cause
    name = f"Nothing binds alone: {cause}" if told.is_one_of_many else f"{cause[0].upper()}{cause[1:]}"
    words = f"{name} {verb}, about {_percent(told.share)} of the time"
    if told.where is not None and told.behind is None:
        place = told.where
        words += f", {'all' if place.share > 0.995 else _percent(place.share)} of it at {place}"
        if place.waiting:
            words += f", for which {place.waiting} waits most"
    if told.cause == causes.BARRIERS and told.is_of_no_help:
        words += ", where warps of a block wait for the one with most work"
    return words


def _of_launch(machine: Machine, result: Result, workload: AnyWorkload, told: Told) -> str:
    """That starting the only launch takes nearly all of the time, and how little it starts."""
    blocks, wave = in_waves(machine, workload, 0)
    verb = (
        "binds" if told.share >= causes.MOSTLY and not told.is_one_of_many and not told.is_of_no_help else "takes most"
    )
    words = f"Starting the launch {verb}, about {_percent(told.share)} of the time"
    overhead = machine.durations.overheads(1, result.launches_in_graph) / result.ticks
    if overhead >= causes.NEARLY_ALL:
        are = "1 block" if blocks == 1 else f"{blocks:,} blocks"
        what = f"too small to fill the machine, {are} where {wave:,} fit" if blocks < wave else f"{are} do little"
        words += f", {_times(machine, result, overhead)}: {what}"
    return words


def _times(machine: Machine, result: Result, part: float) -> str:
    """A part of the time, and all of it: in microseconds, or cycles of a machine without a clock."""
    own, whole = (ticks / machine.ticks_per_cycle for ticks in (part * result.ticks, result.ticks))
    if machine.clock_hz is None:
        return f"{own:,.0f} of {whole:,.0f} cycles"
    return f"{1e6 * own / machine.clock_hz:.3g} of {1e6 * whole / machine.clock_hz:.3g} us"


def _of_idle_groups(machine: Machine, result: Result, workload: AnyWorkload, told: Told) -> str:
    """Why core groups have no work."""
    idle = _percent(told.share)
    if told.cause == causes.FEW_BLOCKS:
        of_launches = workload.launch_blocks[1:] - workload.launch_blocks[:-1]
        blocks = int(of_launches[causes.longest_launch(result)])
        launch = " in the longest launch" if of_launches.max() > blocks else ""
        groups = f"{machine.cores.groups:,} core groups"
        return f"Too few blocks, {blocks:,}{launch} for {groups}: these have no work for {idle} of the time"
    if told.cause == causes.UNEVEN and told.long is not None:
        which = f" of launch {told.long.launch:,}" if workload.launches > 1 else ""
        most = f", most of it at {told.long_at}" if told.long_at else ""
        return (
            f"Uneven blocks bind: block {told.long.block:,}{which} {told.long.words}{most}, and core groups have no "
            f"block left for {idle} of the time"
        )
    words = f"The tail binds: core groups have no block left for {idle} of the time"
    blocks, wave = in_waves(machine, workload, causes.longest_launch(result))
    if blocks % wave:
        words += f", since {blocks:,} blocks are {blocks / wave:.3g} waves of {wave:,}"
    return words


def _odd_blocks(machine: Machine, result: Result, workload: AnyWorkload) -> str:
    """How few blocks there are for each core group, if they can't be shared out evenly."""
    blocks, _ = in_waves(machine, workload, causes.longest_launch(result))
    groups = machine.cores.groups
    if blocks % groups == 0 or blocks > FEW_EACH * groups:
        return ""
    are = "block is" if blocks == 1 else "blocks are"
    return f", since {blocks:,} {are} {blocks / groups:.3g} for each of {groups:,}"


def _worth_telling(told: Told) -> Sequence[WhatIf]:
    """That of the cause first, then those that help, however little where none does by itself, and those that people
    think of first.
    """
    first = (causes.MEMORY_BANDWIDTH, causes.LATENCY, MORE_WARPS)
    least = 1 + WORTH_TRYING if told.is_one_of_many else HELPS
    chosen = [
        each
        for each in told.what_ifs
        if each.cause == told.cause
        or each.cause in first
        or (each.speedup >= least and each.cause not in OF_IDLE_GROUPS)
    ]
    return sorted(chosen, key=lambda each: (each.cause != told.cause, -each.speedup))


def _percent(part: float) -> str:
    return f"{100 * part:.0f} %"
