"""What the page of a run shows, as JSON holds it."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from simtmm.analysis.run.outcome import Run
from simtmm.analysis.units import Unit, chunks_of_kinds, traffic
from simtmm.model.series import label
from simtmm.report.explain.code import NAMES, Coded, Line, coded
from simtmm.report.explain_page.heat import MeasuredLines, heat, hot_of_places
from simtmm.report.explain_page.lanes import lanes
from simtmm.report.explain_page.measures import GROUPS, Measured, reasons
from simtmm.report.explain_page.over_time import over_time
from simtmm.report.explain_page.roofline import roofline
from simtmm.report.run import WHAT_TIME_MEANS, found_how, which_launches
from simtmm.stalls import ATOMICS, STORES, Count
from simtmm.trace.schedule import CODES

MOST_ARRAYS = 200


def title_of(run: Run) -> str:
    """The page's heading."""
    return f"{run.program} on {run.machine.name}"


def content(
    run: Run,
    units: Sequence[Unit] | None = None,
    most_slices: int | None = None,
    is_over_time: bool = True,
    profiled: MeasuredLines | None = None,
) -> dict[str, Any]:
    """All that the page's script draws from; what there is nothing of is None or empty.

    most_slices: of the timeline that are shown; MOST_SLICES of `lanes` if left out. is_over_time: whether what
    happens over time is among it. profiled: what a GPU's profiler says of lines.
    """
    machine, result = run.machine, run.result
    units_shown = run.units if units is None else units
    measured = None if result.stalls is None or not result.ticks else Measured.of(result.stalls, machine)
    return {
        "parameters": {name: str(value) for name, value in run.parameters.items()},
        "changes": dict(machine.changes or {}),
        "verdict": run.verdict.words,
        "whatIfs": [
            {"words": each.words, "speedup": each.speedup}
            for each in sorted(run.verdict.what_ifs, key=lambda each: -each.speedup)
        ],
        "advice": [
            {"gain": each.gain, "where": each.where, "words": each.words, "how": found_how(each)} for each in run.advice
        ],
        "facts": _facts(run),
        "warnings": [*run.warnings, *run.assumptions],
        "compared": run.compared,
        "units": [asdict(unit) for unit in units_shown],
        "groups": list(GROUPS),
        "reasons": reasons(result.stalls) if measured and result.stalls else [],
        "time": _time(run),
        "heat": heat(measured, run.sources, _codes(run), profiled) if measured else None,
        "start": _start(run, measured),
        "arrays": _arrays(measured) if measured else [],
        "accesses": [{**asdict(each), "used": each.used} for each in run.accesses[:MOST_ARRAYS]],
        "chunk": machine.chunk_bytes,
        "memory": _memory(run, measured),
        "overTime": over_time(machine, result) if is_over_time else None,
        "lanes": lanes(run, hot_of_places(measured) if measured and result.timeline is not None else {}, most_slices),
        "roofline": roofline(run, units_shown),
        "models": _models(run),
        "besideTheModel": run.beside_the_model,
        "about": _about(run),
    }


def _facts(run: Run) -> list[tuple[str, Any, str]]:
    """(name, value, unit), of which numbers are shown with their unit."""
    result = run.result
    facts: list[tuple[str, Any, str]] = []
    if result.seconds is not None:
        facts.append(("time", result.seconds, "s"))
    facts += [("cycles", result.cycles, ""), ("launches", len(result.launch_ticks), "")]
    if run.counts:
        facts += [("blocks", sum(launch.blocks for launch in run.counts.launches), "")]
        facts += [("threads", sum(launch.threads for launch in run.counts.launches), "")]
    facts.append(("instructions of warps", result.issued, ""))
    for occupancy, launches in run.occupancies:
        which = f" of {which_launches(run, occupancy, launches)}" if len(run.occupancies) > 1 else ""
        facts.append(
            (f"occupancy{which}", f"{occupancy.warps} of {occupancy.most_warps} warps, by {occupancy.bound}", "")
        )
    return facts


def _time(run: Run) -> list[dict[str, Any]]:
    time = run.result.time or {}
    whole = sum(time.values())
    return [
        {"name": name, "share": ticks / whole, "what": WHAT_TIME_MEANS.get(name, "")}
        for name, ticks in time.items()
        if ticks
    ]


def _codes(run: Run) -> dict[str, dict[Line, list[Coded]]]:
    """The kinds of code that the trace has, by line."""
    found = {NAMES[code]: coded(run, code) for code in CODES}
    return {name: of_lines for name, of_lines in found.items() if of_lines}


def _start(run: Run, measured: Measured | None) -> float:
    """The part of warps' time before their first operations."""
    stalls = run.result.stalls
    if measured is None or stalls is None or not measured.whole:
        return 0.0
    return int(stalls.ticks[-1].sum()) / measured.whole


def _arrays(measured: Measured) -> list[dict[str, Any]]:
    """Each array with what is accessed there, the one with most of the time first."""
    names = measured.stalls.places.arrays
    numbers = np.array(measured.numbers, np.int64)
    rows = []
    for array in np.unique(numbers % len(names)).tolist():
        own = measured.summed(numbers[numbers % len(names) == array].tolist())
        if array or "requests" in own:  # of a workload's accesses no array is known
            rows.append({"name": names[array], **own})
    return sorted(rows, key=lambda row: -row["share"])[:MOST_ARRAYS]


def _memory(run: Run, measured: Measured | None) -> dict[str, Any] | None:
    """The levels of memory, and what goes from each one to the next [bytes]."""
    found = traffic(run.machine, run.result, run.counts)
    if found is None or not found.through_ports:
        return None
    memory, size = run.machine.memory, run.machine.chunk_bytes
    if memory.sectors > 1 and run.result.stalls is None:
        return None  # what moves below the L1 is counted by places
    known = measured.stalls.places.threads if measured else None
    l1, l2 = memory.l1, memory.l2
    levels: list[dict[str, Any]] = [{"name": "core groups", "number": run.machine.cores.groups}]
    ways: list[dict[str, Any]] = [_way(found.loads, found.stores, found.atomics, size)]
    if known is not None and int(known[:, 2].sum()):
        ways[0]["asked"] = int(known[:, 2].sum())
    if l1:
        levels.append({"name": "L1", "bytes": l1.sets * l1.ways * size, **_rate(found.l1_hits, found.loads)})
        behind_l1 = _way(found.loads - found.l1_hits, found.stores, found.atomics, size)
        ways.append(_moved_behind_l1(run) or behind_l1)
    if memory.shared_l1:
        shared = memory.shared_l1
        held, hits = shared.sets * shared.ways * size, _rate(found.shared_l1_hits, found.behind_l1)
        ways[-1] = _moved_through(run, Count.SHARED_L1_SECTORS, ways[-1]) if l1 else ways[-1]
        levels.append({"name": "shared L1", "number": run.machine.shared_l1s, "bytes": held, **hits})
        behind = _way(found.behind_l1 - found.shared_l1_hits, found.stores, found.atomics, size)
        ways.append(_moved_behind_l1(run) or behind)
    if l2:
        levels.append(
            {
                "name": "L2",
                "bytes": l2.sets * l2.ways * size,
                **_rate(found.l2_hits, found.looking_into_l2),
            }
        )
        behind_l2 = _moved(run, Count.MEMORY_SECTORS) or _way(found.read, found.written, found.updated, size)
        if memory.last_level:
            behind_l2 = _moved(run, Count.LAST_LEVEL_SECTORS) or _way(found.read_below_l2, found.stores, 0, size)
        ways.append({**behind_l2, "least": found.is_least})
    if memory.last_level:
        last = memory.last_level
        hits = _rate(found.last_level_hits or 0, found.read_below_l2)
        levels.append({"name": "last level", "bytes": last.sets * last.ways * size, **hits})
        behind = _moved(run, Count.MEMORY_SECTORS) or _way(found.read, found.written, found.updated, size)
        ways.append({**behind, "least": found.is_least})
    levels.append({"name": "memory", "number": memory.partitions})
    return {"levels": levels, "ways": ways}


def _moved(run: Run, what: Count) -> dict[str, Any] | None:
    """What goes by sectors from a level to the next [bytes]; None where chunks have none."""
    if run.machine.memory.sectors == 1 or run.result.stalls is None:
        return None
    of_kinds = chunks_of_kinds(run.result.stalls, what)
    stores, atomics = (sum(of_kinds.get(kind, 0) for kind in kinds) for kinds in (STORES, ATOMICS))
    return _way(sum(of_kinds.values()) - stores - atomics, stores, atomics, run.machine.sector_bytes)


def _moved_behind_l1(run: Run) -> dict[str, Any] | None:
    """Likewise, to the L2 and past it, or to memory without one."""
    memory = run.machine.memory
    below = _moved(run, Count.LAST_LEVEL_SECTORS if memory.last_level else Count.MEMORY_SECTORS)
    found = _moved(run, Count.L2_SECTORS) if memory.l2 else below
    if memory.l2 is None or found is None or below is None:
        return found
    passing = {"stores": memory.l2.writes != "back", "atomics": memory.l2.atomics != "here"}
    return found | {kind: found[kind] + below[kind] for kind, passes in passing.items() if passes}


def _moved_through(run: Run, what: Count, way: dict[str, Any]) -> dict[str, Any]:
    """A way on which loads move by sectors as they were counted, and what is written as it goes further on."""
    moved = _moved(run, what)
    return {**way, "loads": moved["loads"]} if moved else way


def _way(loads: int, stores: int, atomics: int, size: int) -> dict[str, Any]:
    return {"loads": loads * size, "stores": stores * size, "atomics": atomics * size}


def _rate(hits: int, looked: int) -> dict[str, float]:
    return {"rate": hits / looked} if looked else {}


def _models(run: Run) -> list[dict[str, Any]]:
    simulated = run.result.cycles
    return [
        {
            "name": label(model),
            "cycles": prediction.cycles,
            "seconds": prediction.seconds,
            "ratio": prediction.cycles / simulated if simulated else None,
            "bound": prediction.bound,
            "source": prediction.source,
        }
        for model, prediction in run.predictions.items()
    ]


def _about(run: Run) -> dict[str, str]:
    entry = {"compared": run.compared} if run.compared else {}
    for name, value in run.provenance.items():
        if not isinstance(value, (dict, list, tuple)):
            entry[name] = str(value)
    return entry
