"""Why the simulation and the TMM differ, in a sentence."""

from simtmm.analysis.verdict.verdict import Verdict
from simtmm.analysis.what_if.changes import listed
from simtmm.engine import causes
from simtmm.machine import Machine
from simtmm.result import Prediction, Result
from simtmm.trace.counts import Counts

CLOSE = 1.25  # a ratio within this of 1 is not worth an explanation
LARGE_SHARE = 0.5  # of the chunks: worth being named as a cause
KNOWN = (causes.LATENCY, causes.ISSUE)  # causes that the TMM has terms for


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
    hits = (
        (result.l1_hits + result.shared_l1_hits + result.l2_hits) / result.transactions if result.transactions else 0.0
    )
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
        if result.l1_hits + result.shared_l1_hits + result.l2_hits == 0 and waits > LARGE_SHARE:
            once = f"{counts.waits} time{'s' * (counts.waits != 1)}"
            return (
                f"a warp waits for memory {once} in a row, at L = {machine.memory.latency:g} each, which the TMM's "
                f"span leaves out and which takes {_percent(waits)} of it"
            )
    if found.cause == causes.ISSUE and result.issued:
        lanes = tmm.symbols["T1"] / (result.issued * machine.cores.warp_width)
        if lanes < 1 / CLOSE:
            return f"lanes are idle: {_percent(lanes)} of the lanes of an instruction do work"
    launching = causes.set_apart(machine, result)
    if found.cause != causes.LAUNCHES and launching > found.share:  # beside what binds the kernel
        return f"starting the launch, which the TMM leaves out, takes {_percent(launching)} of it"
    if found.cause in (causes.FEW_BLOCKS, causes.TAIL, causes.UNEVEN):
        return f"core groups have no work for {_percent(found.share)} of it"
    several = next((each.together for each in found.what_ifs if each.cause == found.cause), ())
    if several:
        missing = [cause for cause in several if cause not in KNOWN]
        leaves_out = f", and the TMM leaves out {listed(missing)}" if missing else ""
        return f"{found.cause} together take {_percent(found.share)} of it{leaves_out}"
    left_out = "" if found.cause in KNOWN else ", which the TMM leaves out,"
    takes = "take" if found.cause in causes.PLURALS else "takes"
    return f"{found.cause}{left_out} {takes} {_percent(found.share)} of it"


def _percent(part: float) -> str:
    return f"{100 * part:.0f} %"
