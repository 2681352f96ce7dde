"""The verdict: one plain sentence on what bounds a run, and why simulation and model differ."""

from simtmm.machine import Machine
from simtmm.model.latency_hiding import Hiding
from simtmm.result import Prediction, Result
from simtmm.trace.counts import Counts

CLOSE = 1.25  # a ratio within this of 1 is not worth an explanation
LARGE_SHARE = 0.5  # of the simulated time: worth a cause's being named


def verdict(
    machine: Machine,
    result: Result,
    tmm: Prediction | None = None,
    warps: Prediction | None = None,
    hiding: Hiding | None = None,
    counts: Counts | None = None,
) -> str:
    """One sentence. Without predictions and counts it says where the simulated time went."""
    if not result.cycles:
        return "There is nothing to simulate."
    if tmm is None or warps is None or hiding is None or counts is None:
        return f"{_where_time_went(machine, result).capitalize()}."
    return f"{_what_binds(tmm, hiding)}; {_how_simulation_compares(machine, result, tmm, warps, counts)}."


def _what_binds(tmm: Prediction, hiding: Hiding) -> str:
    in_use, needed, limit = _threads(hiding.in_use), _threads(hiding.needed), _threads(hiding.limit)
    if tmm.bound == "memory":
        reach = (
            f"more than the {limit} it can hold" if hiding.needed > hiding.limit else f"within the {limit} it can hold"
        )
        return f"Latency is not hidden: by the TMM a core has {in_use} threads in use and needs {needed}, {reach}"
    enough = f"of the {in_use} threads a core has in use {needed} are enough" if hiding.needed else "no memory is used"
    if tmm.bound == "span":
        return f"Latency is hidden ({enough}), and by the TMM the longest path binds: more parallelism would help"
    return f"Latency is hidden ({enough}), and by the TMM the work binds, as on a PRAM"


def _how_simulation_compares(
    machine: Machine, result: Result, tmm: Prediction, warps: Prediction, counts: Counts
) -> str:
    if not tmm.cycles:
        return "the simulation has nothing to be compared with"
    ratio = result.cycles / tmm.cycles
    if 1 / CLOSE <= ratio <= CLOSE:
        return f"the simulation agrees, at {ratio:.2f} times the TMM's time"
    said = f"the simulation takes {ratio:.3g} times the TMM's time"
    if ratio < 1:
        return f"{said}, because {_why_faster(machine, result)}"
    return f"{said}, because {_why_slower(machine, result, tmm, warps, counts)}"


def _why_faster(machine: Machine, result: Result) -> str:
    hits = (result.l1_hits + result.l2_hits) / result.transactions if result.transactions else 0.0
    if hits > LARGE_SHARE:
        return f"{_percent(hits)} of the chunks come from a cache, which the TMM does not have"
    if machine.memory.transfers == "pipelined":
        return "the chunks of an instruction are in flight together, where the TMM takes them one after another"
    return "not every warp waits for every transfer"


def _why_slower(machine: Machine, result: Result, tmm: Prediction, warps: Prediction, counts: Counts) -> str:
    bandwidth = _partition_ticks(machine, result, counts) / result.ticks
    if bandwidth > LARGE_SHARE:
        return f"bandwidth, which the TMM leaves out, takes {_percent(bandwidth)} of it"
    waits = counts.waits * machine.durations.latency / result.ticks
    if result.l1_hits + result.l2_hits == 0 and waits > LARGE_SHARE:
        once = f"{counts.waits} time{'s' * (counts.waits != 1)}"
        return (
            f"a warp waits for memory {once} in a row, at L = {machine.memory.latency:g} each, which the TMM's span "
            f"leaves out and which takes {_percent(waits)} of it"
        )
    if tmm.bound == "memory" and 1 / CLOSE <= result.cycles / warps.cycles <= CLOSE:
        return "the threads of a warp wait for its transfers together"
    lanes = tmm.symbols["T1"] / (result.issued * machine.cores.warp_width)
    if _share(result, "issuing") > LARGE_SHARE and lanes < 1 / CLOSE:
        return f"lanes are idle: {_percent(lanes)} of the lanes of an instruction do work"
    return _where_time_went(machine, result, besides="issuing")


def _partition_ticks(machine: Machine, result: Result, counts: Counts) -> float:
    """Ticks of the run for which a partition is taken, on average over partitions, at least.

    Those of the chunks that no cache had, less what may lie behind the end of a launch, which is over when its last
    chunk has arrived, however long that chunk's partition is taken.
    """
    memory, durations = machine.memory, machine.durations
    stores = sum(launch.store_operations for launch in counts.launches)
    atomics = sum(launch.atomic_operations for launch in counts.launches)
    loads = counts.memory_operations - stores - atomics - result.l1_hits - result.l2_hits
    if memory.l2 and memory.l2.writes == "back":
        stores = 0  # they end in the L2
    services = (
        (loads, durations.service, durations.latency),
        (stores, durations.service, durations.store_latency),
        (atomics, durations.atomic_service, durations.latency),
    )
    taken = sum(chunks * service for chunks, service, _ in services)
    behind = max([service - finish for chunks, service, finish in services if chunks], default=0)
    return max(0.0, taken / memory.partitions - max(0, behind) * len(result.launch_ticks))


def _share(result: Result, state: str) -> float:
    total = sum(result.time.values()) if result.time else 0
    return result.time[state] / total if result.time and total else 0.0


def _where_time_went(machine: Machine, result: Result, besides: str = "") -> str:
    words = {
        "issuing": "core groups were issuing",
        "memory": "core groups were waiting for memory",
        "barrier": "core groups were waiting at barriers",
        "start": "core groups were starting warps, filling pipelines or pausing",
        "empty": "core groups had no work",
    }
    if result.time is None:
        return f"the simulation takes {result.cycles:,.0f} cycles"
    most = max((state for state in words if state != besides), key=lambda state: _share(result, state))
    within = " within launches" if machine.scheduling.launch_overhead else ""
    return f"{words[most]} {_percent(_share(result, most))} of the time{within}"


def _percent(part: float) -> str:
    return f"{100 * part:.0f} %"


def _threads(count: float) -> str:
    return f"{count:,.0f}" if count >= 100 else f"{count:.3g}"
