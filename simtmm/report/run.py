"""A run as a person reads it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from simtmm.analysis.host import HostFound
from simtmm.analysis.run.outcome import Run
from simtmm.analysis.source_changes import BOUND, ESTIMATE, Advice
from simtmm.analysis.source_changes.lines import COMPILED
from simtmm.model.launch.occupancy import Occupancy
from simtmm.model.series import label
from simtmm.report.papers.latency_hiding import hiding_rows
from simtmm.report.stalls import stalled
from simtmm.report.text import bar, number, rate, seconds, share, table

HOST_PARTS, LEAST_OF_HOST = 5, 0.02  # rows of what the host's calls take, and the least share of one
MOST_KERNELS = 3  # that are named beside an occupancy
MOST_TIMED = 12  # kernels whose times are listed
WHAT_TIME_MEANS = {
    "issuing": "a port was held",
    "memory": "a warp waited for memory",
    "barrier": "a warp waited at a barrier",
    "start": "warps had not begun, filled the pipeline, or paused",
    "empty": "no warp was there",
}

# The rows of the models that are shown unless others are named: model and term, the row's name and the term's formula.
TERMS = {
    ("tmm", "compute"): ("compute", "T1 / P"),
    ("tmm", "span"): ("span", "Tinf"),
    ("tmm", "memory"): ("memory", "M L / (T P)"),
    ("tmm-warps", "memory"): ("memory, warps wait", "M L / warps in use"),
}


def describe(run: Run) -> Iterator[RenderableType]:
    """The report's parts, from the heading to whether such a result was ever compared with hardware."""
    yield from heading(run)
    if kernels := list(_kernels(run)):
        yield table("Kernels, by time", ("", "launches", "of the time", "", "in all", "each"), kernels, left=(0, 3))
        yield ""
    if run.counts:
        yield table("Program", ("", "", ""), list(_program(run)), left=(0, 2))
        yield ""
    for schedule in run.schedules:
        if not schedule.why:  # else a warning says it
            yield Text(f"Instructions of {schedule.kernel}: {schedule.summary}.")
    if any(not schedule.why for schedule in run.schedules):
        yield ""
    yield table("Time", ("", "cycles", "time", "of simulated", "bound by"), list(_times(run)), left=(0, 4))
    yield ""
    if run.predictions:
        yield table("Terms of the models, in cycles", ("", "", ""), list(_terms(run)), left=(0, 2))
        yield ""
    if run.hiding:
        yield table("Hiding the latency", ("", "", ""), list(hiding_rows(run.hiding, run.machine)), left=(0, 2))
        yield ""
    if run.result.time is not None:
        yield table("Where the simulated time went", ("", "", "", ""), list(_where(run)), left=(0, 2, 3))
        yield ""
    if run.units:
        yield table("How busy the machine was", ("", "busy", "", "", ""), list(_busy(run)), left=(0, 2, 4))
        yield ""
    yield from stalled(run.result)
    if run.beside_the_model:
        yield Text(run.beside_the_model)
    for assumption in run.assumptions:
        yield Text(f"Warning: {assumption}.", style="yellow")
    yield Text(run.compared)


def _start(run: Run) -> str:
    l2 = run.machine.memory.l2
    return {"warm": ", from a warm L2", "kept": ", its L2 as launches leave it"}.get(l2.start if l2 else "", "")


def heading(run: Run) -> Iterator[RenderableType]:
    """What was run, what its reader must know of it, the verdict, and what its programmer could change."""
    parameters = ", ".join(f"{name}={value}" for name, value in run.parameters.items())
    yield Text(
        f"{run.program}{f' ({parameters})' if parameters else ''} on {run.machine.name}{_start(run)}", style="bold"
    )
    if run.graph is not None:
        yield Text(f"Graph: {graph_words(run.graph)}")
    for fault in run.faults:
        yield Text(f"Fault of simtmm: {fault}", style="bold red")
    for warning in run.warnings:
        if warning not in run.faults:
            yield Text(f"Warning: {warning}", style="yellow")
    yield Text(f"Verdict: {run.verdict.words}")
    if run.sampled is not None:
        counted = f"counts ± {100 * run.sampled.counts_error:.2g} %"
        yield Text(f"Sampled: {told_time(run)} ({run.sampled.words}); {counted}")
    yield ""
    if run.advice:
        yield table("What you could change", ("gain", "", "", ""), list(advised(run.advice)), left=(1, 2, 3))
        yield ""
    if run.host is not None and run.host.advice:
        yield from _host(run.host)
        yield ""


def _host(host: HostFound) -> Iterator[RenderableType]:
    """What the host's calls take, the most first, and what to change there; of the whole program, with its copies."""
    title = f"The host's calls take {seconds(host.seconds)} in all, kernels {seconds(host.kernels)} of it"
    rows = [
        (f"{100 * part.share:.2g} %", part.place, part.words, f"{part.number:,}x")
        for part in host.parts[:HOST_PARTS]
        if part.share >= LEAST_OF_HOST
    ]
    yield table(title, ("", "", "", ""), rows, left=(1, 2))
    yield ""
    yield table("What the host's code could change", ("gain", "", "", ""), list(advised(host.advice)), left=(1, 2, 3))


def graph_words(graph: Mapping[str, Any]) -> str:
    """A user's graph in a line: its sizes, degrees, and how far apart its vertices are."""
    degree = graph["degree"]
    least = "" if graph["diameter_is_exact"] else "at least "
    kind = f"{'' if graph['directed'] else 'un'}directed{', weighted' if graph['weighted'] else ''}"
    return (
        f"{graph['name']}: {graph['vertices']:,} vertices, {graph['edges']:,} edges, {kind}; degree "
        f"{degree['least']:,} to {degree['greatest']:,}, mean {degree['mean']:.3g}; diameter {least}"
        f"{graph['diameter']:,}; vertex 0 reaches {graph['reached_from_0']:,}"
    )


def advised(advice: Sequence[Advice]) -> Iterator[tuple[str, str, str, str]]:
    """What a programmer could change: the gain, where, what to do, and how the gain was found."""
    for each in advice:
        yield f"{each.gain:.2f}x", each.where, each.words, found_how(each)


HOW = {BOUND: "at most", ESTIMATE: "estimated", COMPILED: "compiled, run and simulated"}


def found_how(advice: Advice) -> str:
    """How a gain was found, as in "simulated, on 16 of 1,024 blocks on 2 of 132 core groups"."""
    how = HOW.get(advice.how, advice.how)
    return f"{how}, on {advice.part}" if advice.part else how


def told_time(run: Run) -> str:
    """A sampled time with half of the interval in which it lies, 95 % of the time."""
    assert run.sampled is not None
    result = run.result
    what = f"{number(result.cycles)} cycles" if result.seconds is None else seconds(result.seconds)
    return f"{what} ± {100 * run.sampled.error:.2g} %"


def _program(run: Run) -> Iterator[tuple[str, str, str]]:
    counts = run.counts
    assert counts is not None
    launches = len(counts.launches)
    yield (
        "work",
        number(counts.work),
        f"T1, operations, in {launches} launch{'es' * (launches != 1)}",
    )
    yield "span", number(counts.span), "Tinf, operations on the longest path"
    words = run.machine.memory.chunk_words
    yield (
        "memory operations",
        number(counts.memory_operations),
        f"M, chunks of C = {words} word{'s' * (words != 1)}",
    )
    yield (
        "threads per core",
        number(counts.threads_per_core),
        f"T in use, of X = {run.machine.cores.max_threads_per_core:g}",
    )
    for entry, having_it in run.occupancies:
        blocks = f"{entry.active_blocks} block{'s' * (entry.active_blocks != 1)}"
        which = f"; {which_launches(run, entry, having_it)}" if len(run.occupancies) > 1 else ""
        yield (
            "occupancy",
            share(entry.warps, entry.most_warps),
            f"{entry.warps} of {entry.most_warps} warps, {blocks}, bound by {entry.bound}{which}",
        )
    yield from _achieved(run)


def which_launches(run: Run, entry: Occupancy, having_it: int) -> str:
    """The kernels whose launches have an occupancy, and how many launches these are, in words."""
    kernels = run.kernels_with(entry)
    more = f" and {len(kernels) - MOST_KERNELS} more" if len(kernels) > MOST_KERNELS else ""
    return f"{', '.join(kernels[:MOST_KERNELS])}{more} ({having_it} launch{'es' * (having_it != 1)})"


def _achieved(run: Run) -> Iterator[tuple[str, str, str]]:
    """How many warps were there, on average, while a core group had any."""
    stalls, time = run.result.stalls, run.result.time
    if stalls is None or time is None:
        return
    busy = sum(time.values()) - time["empty"]
    if busy:
        most = run.machine.warps_per_group
        warps = int(stalls.ticks.sum()) / busy
        yield "achieved", share(warps, most), f"{number(warps)} warps on average, while a core group has any"


def _busy(run: Run) -> Iterator[tuple[str, ...]]:
    """Each kind of unit: the part of the time for which it is taken, and what goes through it of what could."""
    for unit in run.units:
        least = "at least " if unit.is_least and unit.busy else ""  # of nothing counted there is no bound to give
        if unit.peak is None:
            yield unit.name, "", "", rate(unit.achieved, unit.unit), "nothing limits it"
        else:
            of = f"of {rate(unit.peak, unit.unit)}"
            yield unit.name, f"{least}{share(unit.busy, 1)}", bar(unit.busy, 1), rate(unit.achieved, unit.unit), of


def _times(run: Run) -> Iterator[tuple[str, ...]]:
    simulated = run.result.cycles
    yield f"simulated ({run.result.engine})", number(simulated), seconds(run.result.seconds), "", ""
    for model, prediction in run.predictions.items():
        ratio = f"{prediction.cycles / simulated:.3g}" if simulated else ""
        yield label(model), number(prediction.cycles), seconds(prediction.seconds), ratio, prediction.bound


def _kernels(run: Run) -> Iterator[tuple[str, ...]]:
    """The time of each kernel's launches, their starts included, the longest first; nothing for a single kernel."""
    result, launches = run.result, run.info.launches if run.info else ()
    if len({launch.kernel for launch in launches}) < 2 or len(launches) != len(result.launch_ticks):
        return
    number_of, ticks_of = Counter[str](), Counter[str]()
    for launch, ticks in zip(launches, result.launch_ticks, strict=True):
        number_of[launch.kernel] += 1
        ticks_of[launch.kernel] += ticks

    def told(ticks: float) -> str:
        cycles = ticks / result.ticks_per_cycle
        return number(cycles) if result.clock_hz is None else seconds(cycles / result.clock_hz)

    found = [(name, ticks, number_of[name]) for name, ticks in ticks_of.most_common()]
    if left := found[MOST_TIMED:]:
        rest = f"{len(left)} more", sum(ticks for _, ticks, _ in left), sum(launched for *_, launched in left)
        found[MOST_TIMED:] = [rest]
    for name, ticks, launched in found:
        part = share(ticks, result.ticks), bar(ticks, result.ticks)
        yield name, f"{launched:,}", *part, told(ticks), told(ticks / launched)


def _terms(run: Run) -> Iterator[tuple[str, str, str]]:
    """Each model's terms but those that an earlier one has as well, as all of these have T1 / P."""
    shown = set()
    for model, prediction in run.predictions.items():
        for term, cycles in prediction.terms.items():
            if (model, term) in TERMS or (term, cycles) not in shown:
                name, formula = TERMS.get((model, term), (f"{term}, {label(model)}", ""))
                yield name, number(cycles), formula
            shown.add((term, cycles))


def _where(run: Run) -> Iterator[tuple[str, str, str, str]]:
    time = run.result.time
    assert time is not None
    total = sum(time.values())
    for name, ticks in time.items():
        yield name, share(ticks, total), bar(ticks, total).ljust(24), WHAT_TIME_MEANS[name]
