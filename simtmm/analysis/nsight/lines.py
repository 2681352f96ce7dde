"""Counters by source line, compared with those of Nsight Compute's source page."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from simtmm.analysis.nsight.instances import Instance, instances
from simtmm.analysis.nsight.launches import Compared, is_sampled
from simtmm.errors import StudyError, shown
from simtmm.measurement.nsight import SAMPLES, KernelName, SourcePage, SourceRow, kernel_name
from simtmm.stalls import COUNTS, THREADS, Stalls

if TYPE_CHECKING:
    from simtmm.analysis.run.outcome import Run

Line = tuple[str, int]

LINES = {
    SAMPLES: "samples of warps, share",
    "instructions": "instructions of warps",
    "thread_instructions": "instructions of threads",
    "lines": "lines of requests",
    "shared_wavefronts": "wavefronts of shared memory",
}
_SHARED = ("shared_load", "shared_store", "shared_atomic", "shared_reduce")


@dataclass(frozen=True)
class LineBeside:
    """A line of source, and what is known of it from both."""

    file: str
    line: int
    text: str
    compared: tuple[Compared, ...]

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        place = {"file": self.file, "line": self.line, "source": self.text}
        return {**place, **{each.name: each.to_dict() for each in self.compared}}


@dataclass(frozen=True)
class KernelBeside:
    """A kernel's lines.

    launches, measured_launches: how many are simulated, and were measured: values measured are of all, as if others
    were alike. left_out: lines that were measured and that the run does not have.
    """

    kernel: str
    launches: int
    measured_launches: int
    lines: tuple[LineBeside, ...]
    left_out: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {
            "kernel": self.kernel,
            "launches": self.launches,
            "measured_launches": self.measured_launches,
            "lines": [each.to_dict() for each in self.lines],
            "left_out": list(self.left_out),
        }


def lines_beside(run: "Run", pages: Sequence[SourcePage]) -> tuple[tuple[KernelBeside, ...], tuple[str, ...]]:
    """Kernels of both with their lines, in the order of the export, and those that only the export has.

    Raises StudyError where lines of both are not the same text, or a name may be that of several kernels.

    run: one of a trace.
    pages: of exports.
    """
    assert run.info is not None
    stalls = run.result.stalls
    assert stalls is not None
    known = instances(run.info)
    found: list[KernelBeside] = []
    left_out: dict[str, None] = {}
    by_name: dict[str, list[SourcePage]] = defaultdict(list)
    for page in pages:
        by_name[page.name].append(page)
    for name, of_name in by_name.items():
        own = [page for page in of_name if not page.is_code] or of_name  # both views have the same counts
        instance = _instance(kernel_name(name) if name else None, name, known)
        if instance is None:
            left_out[own[0].kernel] = None
            continue
        of_places, skipped = _measured(run, instance, own)
        launches, times = _launches(run, instance, own, known)
        simulated = _simulated(run, stalls, instance, len(known))
        factor = launches / times
        lines = tuple(_compared(run, stalls, simulated, of_places, factor))
        found.append(KernelBeside(own[0].kernel or run.info.kernel, launches, times, lines, skipped))
    return tuple(found), tuple(left_out)


def _instance(name: KernelName | None, text: str, known: Sequence[Instance]) -> Instance | None:
    fits = [each for each in known if name is None or each.name.may_be(name)]
    if len(fits) > 1:
        what = f"{shown(text)} may be any of {len(fits)}" if text else f"the page names no kernel, and {len(fits)} ran"
        raise StudyError(f"source page: {what} kernels of this run: export it with --print-kernel-base demangled")
    return fits[0] if fits else None


def _launches(
    run: "Run", instance: Instance, pages: Sequence[SourcePage], known: Sequence[Instance]
) -> tuple[int, int]:
    """How often the kernel is launched in the run, and how often pages measured it.

    A trace's launches have the names of functions alone. So of a template's instances, the launches of each are known
    only where each has one.
    """
    assert run.info is not None
    own = [each for each in run.info.launches if kernel_name(each.kernel).base == instance.name.base]
    alike = sum(each.name.base == instance.name.base for each in known)
    times = max(sum((page.file, page.is_code) == key for page in pages) for key in {(p.file, p.is_code) for p in pages})
    if alike > 1 and len(own) != alike:
        raise StudyError(
            f"source page: {len(own)} launches of {alike} instances of the template {instance.name.base}: launch each "
            "once, as it is unknown which launch is which"
        )
    launches = len(own) // alike
    if times != launches and len({(each.grid, each.block) for each in own}) > 1:
        raise StudyError(
            f"source page: {times} of {launches} launches of {instance.name.base} were measured, which differ in grid "
            "or block: measure all of them, or launch one shape"
        )
    return launches, times


def _measured(
    run: "Run", instance: Instance, pages: Sequence[SourcePage]
) -> tuple[dict[Line, tuple[str, dict[str, float]]], tuple[str, ...]]:
    """Of each of the run's lines the text and the sums of values measured, and lines that the run has none of."""
    found: dict[Line, tuple[str, dict[str, float]]] = {}
    left_out: dict[str, None] = {}
    lines = _lines_of(run)
    for page in pages:
        rows: Iterable[tuple[Line | None, SourceRow]]
        rows = _by_code(instance, page) if page.is_code else ((_line(page, row, lines), row) for row in page.rows)
        for place, row in rows:
            if not any(row.values.values()):
                continue
            if place is None or not place[1]:
                left_out[f"{PurePath(page.file).name or page.kernel}:{row.line}" if row.line else "no line"] = None
                continue
            _, sums = found.setdefault(place, (lines.get(place[0], {}).get(place[1], ""), {}))
            for name, value in row.values.items():
                sums[name] = sums.get(name, 0.0) + value
    return found, tuple(left_out)


def _lines_of(run: "Run") -> dict[str, dict[int, str]]:
    """The texts of the run's lines, by file."""
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for site in run.info.sites if run.info else ():
        if site.line:
            found[site.file].setdefault(site.line, site.source)
    for file, texts in run.sources.items():
        found[file].update(enumerate(texts, start=1))
    return found


def _line(page: SourcePage, row: SourceRow, lines: Mapping[str, Mapping[int, str]]) -> Line | None:
    """The run's line that a measured one is; None without such a file. Raises StudyError for another text."""
    named = PurePath(page.file.replace("\\", "/"))
    files = [file for file in lines if not page.file or PurePath(file.replace("\\", "/")).name == named.name]
    if len(files) > 1 and page.file:
        common = {file: _common(PurePath(file.replace("\\", "/")).parts, named.parts) for file in files}
        files = [file for file in files if common[file] == max(common.values())]
    same = [file for file in files if _is_same(lines[file].get(row.line, ""), row.text)]
    if len(same) == 1:
        return same[0], row.line
    if len(same) > 1:
        raise StudyError(
            f"{row.place}: line {row.line} may be one of {', '.join(same)}: export the page with its files"
        )
    other = next((lines[file][row.line] for file in files if row.line in lines[file]), None)
    if other is not None and row.text and any(row.values.values()):
        raise StudyError(
            f"{row.place}: line {row.line} = {shown(row.text)}: must be the source here, {shown(other.strip())}"
        )
    return None


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many parts at their ends are equal."""
    number = 0
    for mine, its in zip(reversed(one), reversed(other), strict=False):
        if mine != its:
            break
        number += 1
    return number


def _is_same(own: str, other: str) -> bool:
    """Whether a line is the other, spaces aside; a line without a text may be any."""
    return bool(own) and (not other or own.split() == other.split())


def _by_code(instance: Instance, page: SourcePage) -> Iterable[tuple[Line | None, SourceRow]]:
    """Of instructions measured the lines that the same instructions come from here."""
    listing = instance.sass
    where = page.rows[0].place if page.rows else "source page"
    if listing is None:
        raise StudyError(
            f"{where}: has machine code without lines, and this run has none: export it with --print-source cuda"
        )
    own, its = ([_opcode(text) for text in texts] for texts in (listing.texts, [row.text for row in page.rows]))
    least = min(len(own), len(its))
    rest = {*own[least:], *its[least:]}
    differs = next((place for place in range(least) if own[place] != its[place]), None)
    if differs is not None or not rest <= {"NOP", "BRA"} or listing.left:
        row = page.rows[least - 1 if differs is None else differs]
        raise StudyError(
            f"{row.place}: {shown(row.text)}: the machine code differs from what was compiled here "
            f"({len(its)} and {len(own)} instructions): export the page with --print-source cuda"
        )
    return zip(listing.places[:least], page.rows[:least], strict=True)


def _opcode(text: str) -> str:
    words = text.replace(";", " ").split()
    return next((word.partition(".")[0] for word in words if not word.startswith(("@", "{"))), "")


def _simulated(run: "Run", stalls: Stalls, instance: Instance, kernels: int) -> dict[Line, dict[str, float]]:
    """Sums of the kernel's sites by line; of all sites where it is the only kernel. Raises StudyError if unknown."""
    if instance.sites is None and kernels > 1:
        raise StudyError(f"{run.program}: its trace does not say which lines are those of {instance.name.base}")
    places = stalls.places
    arrays = len(places.arrays)
    ticks = stalls.ticks[: len(places)].sum(axis=1)
    counts = stalls.counts[: len(places)]
    found: dict[Line, dict[str, float]] = defaultdict(lambda: dict.fromkeys(LINES, 0.0))
    happened = np.flatnonzero((ticks > 0) | counts.any(axis=1) | _any_threads(stalls))
    for number in happened.tolist():
        site = number // arrays
        place, _ = places.place(number)
        if not place.line or (instance.sites is not None and site not in instance.sites):
            continue
        row = dict(zip(COUNTS, counts[number].tolist(), strict=True))
        sums = found[place.file, place.line]
        sums[SAMPLES] += int(ticks[number])
        sums["instructions"] += row["instructions"]
        sums["lines"] += row["chunks"]
        if places.threads is not None:
            known = dict(zip(THREADS, places.threads[number].tolist(), strict=True))
            sums["thread_instructions"] += known["times"] * place.thread_instructions
            sums["shared_wavefronts"] += row["conflicts"] + known["executions"] * (place.kind in _SHARED)
    return found


def _any_threads(stalls: Stalls) -> Any:
    known = stalls.places.threads
    return False if known is None else known[: len(stalls.places)].any(axis=1)


def _compared(
    run: "Run",
    stalls: Stalls,
    simulated: Mapping[Line, Mapping[str, float]],
    measured: Mapping[Line, tuple[str, Mapping[str, float]]],
    factor: float,
) -> Iterable[LineBeside]:
    """Each measured line. factor: launches simulated for each one measured."""
    spent = sum(each[SAMPLES] for each in simulated.values()) or 1.0
    samples = sum(values.get(SAMPLES, 0.0) for _, values in measured.values()) or 1.0
    nothing = dict.fromkeys(LINES, 0.0)
    for (file, line), (text, values) in measured.items():
        own = simulated.get((file, line), nothing)
        compared = []
        for name in LINES:
            if name not in values:
                continue
            if name == SAMPLES:
                compared.append(Compared(name, own[name] / spent, values[name] / samples, is_share=True))
            elif not is_sampled(run) and (name in ("instructions", "lines") or stalls.places.threads is not None):
                compared.append(Compared(name, own[name], values[name] * factor))
        yield LineBeside(file, line, text, tuple(compared))
