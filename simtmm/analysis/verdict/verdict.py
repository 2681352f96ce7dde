"""What binds a run, how much of its time that takes, and where in the program."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from simtmm.analysis.source_changes.uneven import Uneven, places_of_block, uneven, warps_at_places
from simtmm.analysis.verdict.sentence import Told, sentence
from simtmm.analysis.what_if import ALONE, HELPS, WhatIf, best, considered
from simtmm.engine import causes
from simtmm.engine.causes import Where, busiest, idle_cause, set_apart, shares, where
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.trace.streamed import AnyWorkload

SHARED = (causes.MEMORY_BANDWIDTH, causes.L2_BANDWIDTH, causes.ATOMICS)  # by all core groups: more blocks don't help
OF_IDLE_GROUPS = (causes.FEW_BLOCKS, causes.TAIL, causes.UNEVEN)
UNTRIED = (*OF_IDLE_GROUPS, causes.BARRIERS)  # what may bind where nothing was tried, or by what warps wait for
NOWHERE = (*OF_IDLE_GROUPS, causes.LAUNCHES, causes.BLOCK_STARTS)  # causes that no line has a part in
FEW = 0.5  # of the warps: others wait for those that work where no more do
WORTH_NAMING = 0.1  # of the time, or of warps' time: what lies behind such a cause


@dataclass(frozen=True)
class Behind:
    """What binds behind a cause that no line has a part in: the line is this one's.

    share: of the time where it was tried, else of what warps wait for.
    """

    cause: str
    share: float
    where: Where | None


@dataclass(frozen=True)
class Verdict:
    """What binds a run. cause: see simtmm.engine.causes; "" for a run of no time.

    share: the part of the time that it accounts for: by what taking it away or halving it saves, where that was tried,
        else by what warps wait for.
    is_tried: whether it was.
    shares: the part of each cause by what warps wait for, the greatest first.
    where: the place of the program with most of it, or of what lies behind it, or at which the longest of uneven blocks
        does most; None if none has any.
    what_ifs: what was tried.
    words: all that in a sentence.
    parameter: the parameter of the machine that limits, in words; "" where it is no single one, or unknown.
    behind: what binds behind launches, and where core groups have no work; else None.
    """

    cause: str
    share: float
    is_tried: bool
    shares: Mapping[str, float]
    where: Where | None
    what_ifs: tuple[WhatIf, ...]
    words: str
    parameter: str = ""
    behind: Behind | None = None

    def __str__(self) -> str:
        return self.words

    def to_dict(self) -> dict[str, Any]:
        """For JSON, without the words."""
        return {
            "cause": self.cause,
            "share": self.share,
            "tried": self.is_tried,
            "parameter": self.parameter,
            "shares": dict(self.shares),
            "where": asdict(self.where) if self.where else None,
            "behind": {"cause": self.behind.cause, "share": self.behind.share} if self.behind else None,
            "what_ifs": [
                {**asdict(each), "together": list(each.together), "share": each.share} for each in self.what_ifs
            ],
        }


def verdict(
    machine: Machine,
    result: Result,
    workload: AnyWorkload,
    what_ifs: Sequence[WhatIf] = (),
    placing: str = "",
    part: str = "",
) -> Verdict:
    """What binds a run. placing: why nothing was tried, in words, if so. part: what of the run it was tried on, if not
    on all.
    """
    of_causes = shares(machine, result)
    if not of_causes or not any(of_causes.values()):
        return Verdict("", 0.0, False, {}, None, (), "There is nothing to simulate.")
    apart = set_apart(machine, result)
    own = 1 - apart  # of the time: the kernel's
    tried = best(considered(what_ifs, apart))
    idle, long = _of_idle_groups(machine, result, workload, what_ifs, of_causes[causes.IDLE] / own)
    if idle is not None and not (tried and tried.share >= causes.MOSTLY * own and _outweighs(tried, what_ifs)):
        cause, share, is_tried = idle, of_causes[causes.IDLE], any(each.cause == idle for each in what_ifs)
    else:
        cause, share = _waited_for(of_causes, apart)
        is_tried = False
        # Without barriers warps would wait for one another at the end: to take them away shows nothing.
        waits = cause == causes.BARRIERS and share >= causes.MOSTLY * own
        if tried is not None and not (waits and tried.share < _enough(tried.cause) * own):
            cause, share, is_tried = tried.cause, tried.share, True
    is_best = tried is not None and is_tried and cause == tried.cause
    together = tried.together if tried is not None and is_best else ()
    parameter = tried.parameter if tried is not None and is_best else ""
    behind = _behind(result, of_causes, what_ifs) if cause in NOWHERE else None
    place = behind.where if behind is not None else where(result, together[0] if together else cause)
    # What its own trial does not help is where time goes, and does not bind: a warp alone can't use a second port
    of_no_help = not is_tried and any(each.cause == cause and each.speedup < HELPS for each in what_ifs)
    if cause == causes.BARRIERS and of_no_help and place is not None:
        place = _of_late_warps(result, workload, place)
    long_at = _of_long_block(result, workload, long) if cause == causes.UNEVEN and long is not None else None
    is_one_of_many = (of_no_help and cause != causes.BARRIERS) or (is_tried and share < ALONE * own)
    told = Told(
        cause, share, parameter, place, None if behind is None else behind.cause, tuple(what_ifs), placing, part,
        of_causes[causes.IDLE], is_one_of_many, of_no_help, long, long_at, apart,
    )  # fmt: skip
    words = sentence(machine, result, workload, told)
    return Verdict(cause, share, is_tried, of_causes, long_at or place, tuple(what_ifs), words, parameter, behind)


def _outweighs(tried: WhatIf, what_ifs: Sequence[WhatIf]) -> bool:
    """Whether a cause binds though core groups have no work: a unit that all of them share, or where its trial gains
    more than that of a tail or of uneven blocks. Pieces of too few blocks gain what their warps allow, at least.
    """
    of_groups = [each.speedup for each in what_ifs if each.cause in (causes.TAIL, causes.UNEVEN)]
    return tried.cause in (*SHARED, causes.GROUPS_PATH) or tried.speedup > max(of_groups, default=np.inf)


def _enough(cause: str) -> float:
    """The part of the time from which on what was tried says more than that warps wait for one another at barriers.

    Of bank conflicts less will do: they are what the last of the warps is late with. Other work of it is its own.
    """
    return causes.CLEARLY if cause == causes.SHARED_MEMORY else causes.MOSTLY


def _of_idle_groups(
    machine: Machine, result: Result, workload: AnyWorkload, what_ifs: Sequence[WhatIf], empty: float
) -> tuple[str | None, Uneven | None]:
    """Too few blocks, a tail or uneven blocks, where core groups without work are what the time goes to, and the launch
    whose blocks are uneven; neither where sharing out the work was tried and did not help.

    empty: the part of the time in which groups have no work.
    """
    if empty < causes.MOSTLY:
        return None, None
    launch = causes.longest_launch(result)
    long = uneven(workload, launch, machine)
    idle = idle_cause(machine, result, workload) if long is None else causes.UNEVEN
    gains = [each.speedup for each in what_ifs if each.cause in OF_IDLE_GROUPS]
    if gains and max(gains) < HELPS:
        return None, None
    blocks = int(workload.launch_blocks[launch + 1] - workload.launch_blocks[launch])
    if idle is None and gains and blocks < machine.cores.groups:
        idle = causes.FEW_BLOCKS  # whatever its warps wait for
    return idle, long


def _of_long_block(result: Result, workload: AnyWorkload, long: Uneven) -> Where | None:
    """The line at which the longest of uneven blocks does most; None where that is not known."""
    assert result.stalls is not None
    of_places = places_of_block(workload, int(workload.launch_blocks[long.launch]) + long.block)
    return busiest(result.stalls, of_places) if of_places.any() else None


def _of_late_warps(result: Result, workload: AnyWorkload, waits: Where) -> Where:
    """The line at which a few warps work while the others wait for them at a barrier; else where they wait.

    By what a warp spends there that comes there: all of a block load, say, and one of them then adds up.
    """
    stalls, warps = result.stalls, warps_at_places(workload)
    assert stalls is not None
    if warps is None:
        return waits
    ticks = stalls.ticks[: len(stalls.places)].sum(axis=1) // np.maximum(warps, 1)
    are_barriers = stalls.places.are_of(causes.KINDS_OF_BARRIERS)
    at_work = ticks * ~are_barriers * (warps <= FEW * workload.warps)
    late = busiest(stalls, at_work)
    if late is None or not late.line or at_work.sum() * late.share < causes.MOSTLY * ticks[are_barriers].max(initial=0):
        return waits
    return replace(late, share=waits.share, waiting=str(waits))


def _waited_for(of_causes: Mapping[str, float], apart: float = 0.0) -> tuple[str, float]:
    """What warps wait for most, and its part of the time in which core groups have warps, or launches begin.

    apart: the part of the time that starting the only launch takes; launches have starts of blocks beside it.
    """
    busy = sum(of_causes[each] for each in of_causes if each != causes.IDLE)
    waits = {cause: share for cause, share in of_causes.items() if cause != causes.IDLE}
    if apart:
        waits[causes.BLOCK_STARTS] = waits.pop(causes.LAUNCHES) - apart
    cause = max(waits, key=lambda each: waits[each])
    return cause, waits[cause] / busy if busy else 0.0


def _behind(result: Result, of_causes: Mapping[str, float], what_ifs: Sequence[WhatIf]) -> Behind | None:
    """What would bind next: what helps most of what was tried, else what warps wait for."""
    tried = best([each for each in what_ifs if each.cause not in NOWHERE])
    if tried is not None and tried.share >= WORTH_NAMING:
        return Behind(tried.cause, tried.share, where(result, tried.together[0] if tried.together else tried.cause))
    left = {cause: share for cause, share in of_causes.items() if cause != causes.LAUNCHES}
    cause, share = _waited_for(left)
    return Behind(cause, share, where(result, cause)) if share >= WORTH_NAMING else None
