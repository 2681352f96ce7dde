"""The verdict: what binds a run, where in the program, and what would help; and why simulation and model differ."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from simtmm.analysis.source_changes.uneven import Uneven, uneven
from simtmm.analysis.waves import in_waves
from simtmm.analysis.what_if import ALONE, HELPS, MORE_WARPS, WORTH_TRYING, WhatIf, best
from simtmm.engine import causes
from simtmm.engine.causes import Where, idle_cause, shares, where
from simtmm.machine import Machine
from simtmm.result import Prediction, Result
from simtmm.trace.counts import Counts
from simtmm.trace.streamed import AnyWorkload

CLOSE = 1.25  # a ratio within this of 1 is not worth an explanation
LARGE_SHARE = 0.5  # of the chunks: worth being named as a cause

SHARED = (causes.MEMORY_BANDWIDTH, causes.L2_BANDWIDTH, causes.ATOMICS)  # by all core groups: more blocks don't help
MANY = (causes.ATOMICS, causes.DEPENDENCE, causes.BARRIERS, causes.LAUNCHES, causes.PIPES)  # their names are plurals
UNTRIED = (causes.FEW_BLOCKS, causes.TAIL, causes.UNEVEN, causes.BARRIERS)  # what trials do not show
MENDS = {
    causes.FEW_BLOCKS: "launch more blocks, or smaller ones",
    causes.TAIL: "smaller blocks, or as many as fill the core groups evenly",
    causes.UNEVEN: "sharing out its work",
    causes.GROUPS_PATH: "more blocks, on more core groups",
    causes.LAUNCHES: "fewer launches, or more work in each",
}


@dataclass(frozen=True)
class Verdict:
    """What binds a run. cause: see simtmm.engine.causes; "" for a run of no time.

    share: the part of the time that it accounts for: by what taking it away or halving it saves, where that was tried,
        else by what warps wait for.
    is_tried: whether it was.
    shares: the part of each cause by what warps wait for, the greatest first.
    where: the place of the program with most of it, None if none has any.
    what_ifs: what was tried.
    words: all that in a sentence.
    """

    cause: str
    share: float
    is_tried: bool
    shares: Mapping[str, float]
    where: Where | None
    what_ifs: tuple[WhatIf, ...]
    words: str

    def __str__(self) -> str:
        return self.words

    def to_dict(self) -> dict[str, Any]:
        """For JSON, without the words."""
        return {
            "cause": self.cause,
            "share": self.share,
            "tried": self.is_tried,
            "shares": dict(self.shares),
            "where": asdict(self.where) if self.where else None,
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
    tried = best(what_ifs)
    idle = idle_cause(machine, result, workload)
    long = None
    if of_causes[causes.IDLE] >= causes.MOSTLY:
        long = uneven(workload, causes.longest_launch(result))
        idle = idle if long is None else causes.UNEVEN
    if idle is not None and not (tried and tried.cause in SHARED and tried.share >= causes.MOSTLY):
        cause, share, is_tried = idle, of_causes[causes.IDLE], False
    else:
        cause = max((each for each in of_causes if each != causes.IDLE), key=lambda each: of_causes[each])
        busy = sum(of_causes[each] for each in of_causes if each != causes.IDLE)  # groups have warps, or launches begin
        share, is_tried = of_causes[cause] / busy if busy else 0.0, False
        # Without barriers warps would wait for one another at the end: to take them away shows nothing.
        waits = cause == causes.BARRIERS and share >= causes.MOSTLY
        if tried is not None and not (waits and tried.share < causes.MOSTLY):
            cause, share, is_tried = tried.cause, tried.share, True
    together = tried.together if tried is not None and is_tried and cause == tried.cause else ()
    place = where(result, together[0] if together else cause)
    # What its own trial does not help is where time goes, and does not bind: a warp alone can't use a second port
    of_no_help = (
        not is_tried and cause not in UNTRIED and any(each.cause == cause and each.speedup < HELPS for each in what_ifs)
    )
    is_one_of_many = of_no_help or (is_tried and share < ALONE)
    told = what_ifs, placing, part, of_causes[causes.IDLE], is_one_of_many, long
    words = _sentence(machine, result, workload, cause, share, place, *told)
    return Verdict(cause, share, is_tried, of_causes, place, tuple(what_ifs), words)


def _sentence(  # noqa: PLR0913, PLR0917 - each is a part of the sentence
    machine: Machine,
    result: Result,
    workload: AnyWorkload,
    cause: str,
    share: float,
    place: Where | None,
    what_ifs: Sequence[WhatIf],
    placing: str,
    part: str,
    empty: float,
    is_one_of_many: bool,
    long: Uneven | None,
) -> str:
    together = next((each for each in what_ifs if each.cause == cause and each.together), None)
    many = together is not None or cause in MANY
    is_bound = share >= causes.MOSTLY and not is_one_of_many
    binds = ("bind," if many else "binds,") if is_bound else ("take most," if many else "takes most,")
    if together is not None and not is_one_of_many:
        binds = f"{'bind' if share >= causes.MOSTLY else 'take most'} together,"
    name = f"Nothing binds alone: {cause}" if is_one_of_many else f"{cause[0].upper()}{cause[1:]}"
    sentence = f"{name} {binds} about {_percent(share)} of the time"
    if cause == causes.FEW_BLOCKS:
        blocks = int((workload.launch_blocks[1:] - workload.launch_blocks[:-1]).max())
        sentence = (
            f"Too few blocks, {blocks:,} for {machine.cores.groups:,} core groups: these have no work for "
            f"{_percent(share)} of the time"
        )
    elif cause == causes.UNEVEN and long is not None:
        which = f" of launch {long.launch:,}" if workload.launches > 1 else ""
        sentence = (
            f"Uneven blocks bind: block {long.block:,}{which} {long.words}, and core groups have no block left for "
            f"{_percent(share)} of the time"
        )
    elif cause == causes.TAIL:
        sentence = f"The tail binds: core groups have no block left for {_percent(share)} of the time"
        blocks, wave = in_waves(machine, workload, causes.longest_launch(result))
        if blocks % wave:
            sentence += f", since {blocks:,} blocks are {blocks / wave:.3g} waves of {wave:,}"
    elif place is not None:
        sentence += f", {'all' if place.share > 0.995 else _percent(place.share)} of it at {place}"
        if place.waiting:
            sentence += f", for which {place.waiting} waits most"
    if placing:
        sentence += f" ({placing})"
    elif what_ifs:
        tried = ", ".join(
            f"{each.words} {each.speedup:.2f}x" for each in _worth_telling(cause, what_ifs, is_one_of_many)
        )
        sentence += f"; with {tried}" if tried else ""
        sentence += f" (tried on {part})" if tried and part else ""
    if cause in MENDS and (cause != causes.GROUPS_PATH or empty >= LARGE_SHARE):
        sentence += f"; {MENDS[cause]} would help"
    if cause not in (causes.FEW_BLOCKS, causes.TAIL, causes.UNEVEN) and empty >= LARGE_SHARE:
        sentence += f"; core groups have no block for {_percent(empty)} of the time"
    return f"{sentence}."


def _worth_telling(cause: str, what_ifs: Sequence[WhatIf], is_one_of_many: bool) -> list[WhatIf]:
    """That of the cause first, then those that help, however little where none does by itself, and those that people
    think of first.
    """
    first = (causes.MEMORY_BANDWIDTH, causes.LATENCY, MORE_WARPS)
    least = 1 + WORTH_TRYING if is_one_of_many else HELPS
    chosen = [each for each in what_ifs if each.cause == cause or each.cause in first or each.speedup >= least]
    return sorted(chosen, key=lambda each: (each.cause != cause, -each.speedup))


def beside_the_model(
    machine: Machine, result: Result, tmm: Prediction, warps: Prediction, counts: Counts, found: Verdict
) -> str:
    """One sentence on the time by the TMM, and why the simulation differs from it."""
    if not tmm.cycles or not result.cycles:
        return "The simulation has nothing to be compared with."
    ratio = result.cycles / tmm.cycles
    if 1 / CLOSE <= ratio <= CLOSE:
        return f"The simulation agrees with the TMM, at {ratio:.2f} times its time."
    sentence = f"The simulation takes {ratio:.3g} times the TMM's time"
    if ratio < 1:
        return f"{sentence}, because {_why_faster(machine, result)}."
    return f"{sentence}, because {_why_slower(machine, result, tmm, warps, counts, found)}."


def _why_faster(machine: Machine, result: Result) -> str:
    hits = (result.l1_hits + result.l2_hits) / result.transactions if result.transactions else 0.0
    if hits > LARGE_SHARE:
        return f"{_percent(hits)} of the chunks come from a cache, which the TMM does not have"
    if machine.memory.transfers == "pipelined":
        return "the chunks of an instruction are in flight together, where the TMM takes them one after another"
    return "not every warp waits for every transfer"


def _why_slower(
    machine: Machine, result: Result, tmm: Prediction, warps: Prediction, counts: Counts, found: Verdict
) -> str:
    if found.cause == causes.LATENCY:
        if tmm.bound == "memory" and 1 / CLOSE <= result.cycles / warps.cycles <= CLOSE:
            return "the threads of a warp wait for its transfers together"
        waits = min(1.0, counts.waits * machine.durations.latency / result.ticks)
        if result.l1_hits + result.l2_hits == 0 and waits > LARGE_SHARE:
            once = f"{counts.waits} time{'s' * (counts.waits != 1)}"
            return (
                f"a warp waits for memory {once} in a row, at L = {machine.memory.latency:g} each, which the TMM's "
                f"span leaves out and which takes {_percent(waits)} of it"
            )
    if found.cause == causes.ISSUE and result.issued:
        lanes = tmm.symbols["T1"] / (result.issued * machine.cores.warp_width)
        if lanes < 1 / CLOSE:
            return f"lanes are idle: {_percent(lanes)} of the lanes of an instruction do work"
    if found.cause in (causes.FEW_BLOCKS, causes.TAIL, causes.UNEVEN):
        return f"core groups have no work for {_percent(found.share)} of it"
    known = found.cause in (causes.LATENCY, causes.ISSUE)
    left_out = "" if known else ", which the TMM leaves out,"
    takes = "take" if found.cause in MANY else "takes"
    return f"{found.cause}{left_out} {takes} {_percent(found.share)} of it"


def _percent(part: float) -> str:
    return f"{100 * part:.0f} %"
