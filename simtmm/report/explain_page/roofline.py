"""Roofline: a run's rate compared with what issue ports and each level of memory would allow.

Source: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for multicore architectures",
Communications of the ACM 52(4), 2009. A level of memory has a roof and a point of its own: the intensity there is of
the bytes that reach it, so that caches move a point to the right.
"""

from collections.abc import Sequence
from typing import Any

from simtmm.analysis.run import Run
from simtmm.analysis.units import ISSUE_PORTS, L2_SLICES, MEMORY_PORTS, PARTITIONS, Unit

LEVELS = {MEMORY_PORTS: "memory ports", L2_SLICES: "L2", PARTITIONS: "memory"}
FLOATING_POINT = ("fp16", "fp32", "fp64")


def roofline(run: Run, units: Sequence[Unit]) -> dict[str, Any] | None:
    """For JSON; None of a run that takes no time or has no operation.

    counted, word: what a rate is of. per: "s" or "cycle". flat: the rate that issue ports allow. rate: of the run.
    levels: of each level with traffic and a limit its bandwidth in bytes, and the intensity there; where none has a
        limit, the last one without bandwidth.
    """
    by_name = {unit.name: unit for unit in units}
    issue = by_name.get(ISSUE_PORTS)
    if issue is None or issue.peak is None or not run.result.ticks:
        return None
    number, counted, word, lanes = _counted(run)
    if not number:
        return None
    per = issue.unit.rpartition("/")[2]
    length = run.result.cycles if run.result.seconds is None else run.result.seconds
    rate = number / length
    levels = [
        {
            "name": name,
            "bandwidth": by_name[unit].peak,
            "intensity": rate / by_name[unit].achieved,
            "least": by_name[unit].is_least and unit == PARTITIONS,
        }
        for unit, name in LEVELS.items()
        if unit in by_name and by_name[unit].achieved
    ]
    limited = [level for level in levels if level["bandwidth"] is not None]
    return {
        "counted": counted,
        "word": word,
        "per": per,
        "flat": issue.peak * lanes,
        "rate": rate,
        "levels": limited or levels[-1:],
    }


def _counted(run: Run) -> tuple[int, str, str, int]:
    """What is counted: how many, in words, in a word, and how many an instruction of a warp does at most."""
    width = run.machine.cores.warp_width
    if run.counts is None:
        return run.result.issued, "instructions of warps", "instructions", 1
    classes = run.counts.work_by_class
    arithmetic = sum(classes.get(name, 0) for name in FLOATING_POINT)
    if arithmetic:
        which = ", ".join(name for name in FLOATING_POINT if classes.get(name))
        return (
            arithmetic,
            f"floating-point instructions of threads ({which}; a multiply-add is one)",
            "instructions",
            width,
        )
    return run.counts.work, "operations of threads", "operations", width
