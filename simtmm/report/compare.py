"""A comparison as a person reads it, as CSV, and as LaTeX tables for a paper."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from simtmm.analysis.comparison.case import Case
from simtmm.analysis.comparison.comparison import Agreement, Comparison
from simtmm.analysis.comparison.winners import winners
from simtmm.model.series import MEASURED, label
from simtmm.report.studies.answers import contest
from simtmm.report.text import NO_VALUE, csv_of, number, seconds, table

_SPECIAL = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
}


def _rule(case: Case) -> str:
    return case.rule or case.machine.scheduling.scheduler


def _without_rule(case: Case) -> str:
    """The machine's name without the rule that stands behind it where it is not the machine's own."""
    return case.machine_name.removesuffix(f", {_rule(case)}")


def describe_comparison(made: Comparison) -> Iterator[RenderableType]:
    """Times, ratios, agreement, and what binds."""
    reference = label(made.reference)
    machines = list(dict.fromkeys(_without_rule(case) for case in made.cases))
    where = f" on {machines[0]}" if len(machines) == 1 else f" on {len(machines)} machines"
    rules = {_rule(case) for case in made.cases if _without_rule(case) != case.machine_name}
    where += f" by {len(rules) + 1} scheduling rules" if rules else ""
    cases = f"{len(made.cases)} case{'s' * (len(made.cases) != 1)}"
    yield Text(f"{cases}{where}, against {reference} times", style="bold")
    for warning in made.warnings:
        yield Text(f"Warning: {warning}", style="yellow")
    yield ""
    header = ("", "machine", *(label(name) for name in made.series))
    times = [(*_case(case), *(_time(made, case, name) for name in made.series)) for case in made.cases]
    times += [(one.label, one.machine_name, one.status, *[""] * (len(made.series) - 1)) for one in made.absent]
    yield table("Time", header, times, left=(0, 1))
    yield from _samples(made)
    yield ""
    others = [name for name in made.series if name != made.reference]
    ratios = [(*_case(case), *(_ratio(made.ratio(case, name)) for name in others)) for case in made.cases]
    yield table(f"Time over {reference}", ("", "machine", *(label(name) for name in others)), ratios, left=(0, 1))
    yield ""
    yield table(f"Agreement with {reference}", _AGREEMENT, [_agreement(row) for row in made.agreements()])
    yield ""
    yield Text(
        "geometric mean, median, largest: of the ratios; error: mean of |ratio - 1|; Spearman, Kendall: of ranks;"
    )
    yield Text("regime: cases where the model and the simulation name the same bottleneck.")
    yield ""
    told = [name for name in made.series if name != MEASURED]
    bounds = [(*_case(case), *(case.bound(name) or NO_VALUE for name in told)) for case in made.cases]
    every = tuple(range(2 + len(told)))
    yield table("What binds", ("", "machine", *(label(name) for name in told)), bounds, left=every)
    yield from _contest(made)
    yield from _notes(made)


def _samples(made: Comparison) -> Iterator[RenderableType]:
    """Of how much each case was simulated, and how far off the counts that the models take may be."""
    rows = [
        (*_case(case), f"{100 * case.sampled['counts_error']:.2g} %", case.sampled["words"])
        for case in made.cases
        if case.sampled
    ]
    if rows:
        yield ""
        yield table("Sampled", ("", "machine", "counts ±", ""), rows, left=(0, 1, 3))


def _contest(comparison: Comparison) -> Iterator[RenderableType]:
    """Which program wins where, and where that changes; nothing for one program."""
    for answer in contest(winners(comparison), comparison.series):
        yield ""
        yield table(answer.title, answer.header, answer.rows, left=answer.left)
        yield from map(Text, answer.more)


def comparison_csv(made: Comparison) -> str:
    """A row for each case and series, with a header."""
    return csv_of(made.rows())


def comparison_latex(made: Comparison) -> str:
    """Two tables, of ratios and of agreement; they need the package booktabs."""
    others = [name for name in made.series if name != made.reference]
    reference = label(made.reference)
    head = ["Kernel", "Machine", f"{reference.capitalize()}", *(label(name) for name in others)]
    body = [
        [*_case(case), _time(made, case, made.reference), *(_ratio(made.ratio(case, name)) for name in others)]
        for case in made.cases
    ]
    agreement = [["", *_AGREEMENT[1:]], *(list(_agreement(row)) for row in made.agreements())]
    ratios = _tabular("ll" + "r" * (len(head) - 2), head, body)
    agreed = _tabular("l" + "r" * (len(_AGREEMENT) - 1), agreement[0], agreement[1:])
    lines = [f"% Times over {reference} times. Needs \\usepackage{{booktabs}}.", ratios]
    lines += [f"% Agreement with {reference} times.", agreed]
    return "\n".join(lines)


_AGREEMENT = ("", "cases", "geometric mean", "median", "largest", "error", "Spearman", "Kendall", "regime")


def _agreement(row: Agreement) -> tuple[str, ...]:
    return (
        label(row.series),
        str(row.cases),
        _ratio(row.geometric_mean),
        _ratio(row.median),
        _ratio(row.largest),
        f"{100 * row.mean_error:.3g} %" if row.mean_error < 10 else f"{100 * row.mean_error:,.0f} %",
        NO_VALUE if row.spearman is None else f"{row.spearman:.3f}",
        NO_VALUE if row.kendall is None else f"{row.kendall:.3f}",
        NO_VALUE if row.regimes is None else f"{row.regimes[0]} of {row.regimes[1]}",
    )


def _case(case: Case) -> tuple[str, str]:
    return case.label, case.machine_name


def _time(comparison: Comparison, case: Case, series: str) -> str:
    time = comparison.time(case, series)
    if time is None:
        return NO_VALUE
    told = seconds(time) if comparison.unit == "s" else number(time)
    half = case.half_interval(series)
    return f"{told} ± {100 * half:.2g} %" if half else told


def _ratio(ratio: float | None) -> str:
    """Three digits, those of a column alike: 0.570, 4.00, 10.3."""
    if ratio is None:
        return NO_VALUE
    return f"{ratio:,.0f}" if ratio >= 1000 else f"{ratio:.2e}" if ratio < 1e-4 else f"{ratio:#.3g}".rstrip(".")


def _notes(comparison: Comparison) -> Iterator[RenderableType]:
    notes = []
    for name, fit in comparison.fits.items():
        fitted = f"fitted to {fit['cases']} {label(comparison.reference)} times, the same that it is compared with"
        how = fitted if fit["cases"] else "given"
        notes.append(f"calibrated, {name}: a1 = {fit['a1']:.4g}, a0 = {fit['a0']:.4g} cycles, {how}")
    if comparison.unit == "cycles":
        notes.append("Times are in cycles, because a machine has no clock rate.")
    for case in comparison.cases:
        notes += [f"{case.program} on {case.machine_name}: {error}" for error in case.errors.values()]
    notes += [f"{one.status.capitalize()}: {one.where}: {one.reason}" for one in comparison.absent]
    if comparison.unmatched:
        first = comparison.unmatched[0]
        notes.append(
            f"{len(comparison.unmatched)} measured times match no case, such as {first.kernel} on {first.machine} "
            f"({first.origin})"
        )
    if notes:
        yield ""
        yield from (Text(note) for note in dict.fromkeys(notes))


def _tabular(columns: str, head: list[str], body: list[list[str]]) -> str:
    rows = [" & ".join(_latex(cell) for cell in row) + r" \\" for row in body]
    top = " & ".join(_latex(cell) for cell in head) + r" \\"
    middle = [r"\midrule", *rows, r"\bottomrule", r"\end{tabular}"]
    return "\n".join([f"\\begin{{tabular}}{{{columns}}}", r"\toprule", top, *middle])


def _latex(text: str) -> str:
    if text == NO_VALUE:
        return "--"
    if text.endswith(" us"):
        return f"{text[:-3]} $\\mu$s"
    if text[:1] == "-" and text[1:2].isdigit():
        return f"${text}$"
    return "".join(_SPECIAL.get(character, character) for character in text)
