"""Roofline: a run's rate compared with what issue ports and each level of memory would allow.

Source: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for multicore architectures",
Communications of the ACM 52(4), 2009. A level of memory has a roof and a point of its own: the intensity there is of
the bytes that reach it, so that caches move a point to the right. So does each line of the source that computes;
classes of instructions that have pipes of their own have roofs of their own.
"""

from collections.abc import Sequence
from typing import Any

from simtmm.analysis.run.outcome import Run
from simtmm.analysis.units import ISSUE_PORTS, L2_SLICES, LAST_LEVEL, MEMORY_PORTS, PARTITIONS, SHARED_L1S, Unit

LEVELS = {
    MEMORY_PORTS: "memory ports",
    SHARED_L1S: "shared L1",
    L2_SLICES: "L2",
    LAST_LEVEL: "last level",
    PARTITIONS: "memory",
}
FLOATING_POINT = ("fp16", "fp32", "fp64", "tensor")
BYTES_AT = {"memory": "memory_bytes", "L2": "l2_bytes", "memory ports": "l1_bytes"}
FURTHEST = tuple(BYTES_AT)
MOST_LINES = 8


def roofline(run: Run, units: Sequence[Unit]) -> dict[str, Any] | None:
    """For JSON; None of a run that takes no time or has no operation.

    counted, word: what a rate is of. per: "s" or "cycle". flat: the rate that issue ports allow. rate: of the run.
    roofs: of each class of floating-point instructions that the run has and that pipes limit, the rate that they allow.
    lines: of the hottest lines that compute, their part of the rate, and the intensity at the furthest level that their
    own bytes reach; None for those that load nothing themselves.
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
        "roofs": _roofs(run, issue.peak * lanes, per),
        "lines": _lines(run, length, [str(level["name"]) for level in limited or levels[-1:]]),
    }


def _roofs(run: Run, flat: float, per: str) -> list[dict[str, Any]]:
    """Of each class with pipes the rate that all of them allow, where that is below the ports'."""
    machine, counts = run.machine, run.counts
    found = []
    has = {} if counts is None else counts.work_by_class
    for name in FLOATING_POINT:
        pipe = getattr(machine.pipes, name) if machine.pipes else None
        if pipe is None or not pipe.interval or not has.get(name):
            continue
        a_cycle = machine.cores.groups * pipe.count * machine.cores.warp_width / pipe.interval
        rate = a_cycle * machine.clock_hz if per == "s" and machine.clock_hz else a_cycle
        if rate < flat:
            found.append({"name": name, "rate": rate})
    return found


def _lines(run: Run, length: float, levels: Sequence[str]) -> list[dict[str, Any]]:
    """The hottest first. length: of the run. levels: that have a point."""
    if run.result.stalls is None:
        return []
    found = []
    for row in run.result.lines:  # the hottest first
        computed = row["floating_point_instructions"]
        at = next((name for name in FURTHEST if name in levels and row.get(BYTES_AT[name])), None)
        if not row["line"] or not computed:
            continue
        found.append(
            {
                "where": f"{row['file']}:{row['line']}",
                "line": row["line"],
                "level": at,
                "rate": computed / length,
                "intensity": None if at is None else computed / row[BYTES_AT[at]],
            }
        )
    return found[:MOST_LINES]


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
