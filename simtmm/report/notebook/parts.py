"""What Jupyter shows of each kind of value, from the same parts as reports on the command line."""

from collections.abc import Iterator, Mapping
from functools import singledispatch
from math import isnan

from rich.console import RenderableType
from rich.text import Text

from simtmm.analysis.comparison.comparison import Comparison
from simtmm.analysis.difference import Difference
from simtmm.analysis.nsight import Beside
from simtmm.analysis.prediction.crossover import Versus
from simtmm.analysis.prediction.predictions import Predictions
from simtmm.analysis.run.outcome import Run
from simtmm.analysis.threads_needed import ThreadsNeeded
from simtmm.analysis.tuning.advice import Advice
from simtmm.analysis.tuning.tuned import Tuned
from simtmm.analysis.zigzag import Throughput
from simtmm.display import Displayed
from simtmm.machine import Machine
from simtmm.model.series import label
from simtmm.report.compare import describe_comparison
from simtmm.report.diff import describe_difference
from simtmm.report.listing import describe_machine
from simtmm.report.nsight import describe_beside
from simtmm.report.papers.predict import describe_prediction, describe_versus, describe_zigzag
from simtmm.report.papers.threads_needed import describe_threads
from simtmm.report.run import WHAT_TIME_MEANS, describe
from simtmm.report.studies.advise import describe_advice
from simtmm.report.studies.answers import answers
from simtmm.report.studies.tune import describe_tuned
from simtmm.report.text import NO_VALUE, number, share, table
from simtmm.result import Prediction, Result
from simtmm.study.findings import Findings
from simtmm.study.results import Results
from simtmm.trace.counts import Counts
from simtmm.trace.io import Trace
from simtmm.workload import Workload

MOST_ROWS = 12  # points of a study, and arrays of a trace, that are shown

Parts = Iterator[RenderableType]


@singledispatch
def parts_of(value: Displayed) -> Parts:
    """The parts of a value's report."""
    raise TypeError(f"{type(value).__name__}: has no report")


parts_of.register(Machine)(describe_machine)
parts_of.register(Run)(describe)
parts_of.register(Comparison)(describe_comparison)
parts_of.register(Predictions)(describe_prediction)
parts_of.register(Difference)(describe_difference)
parts_of.register(Beside)(describe_beside)
parts_of.register(ThreadsNeeded)(describe_threads)
parts_of.register(Versus)(describe_versus)
parts_of.register(Advice)(describe_advice)


@parts_of.register
def _of_tuned(tuned: Tuned) -> Parts:
    yield from describe_tuned(tuned, MOST_ROWS)


@parts_of.register
def _of_throughput(found: Throughput) -> Parts:
    yield from describe_zigzag(found.kernel, found.swept, found.machine)


@parts_of.register
def _of_result(result: Result) -> Parts:
    yield Text(repr(result), style="bold")
    yield table("Counted", ("", ""), [
        ("instructions issued", number(result.issued)),
        ("chunks listed by them", number(result.transactions)),
        ("hits in the L1", number(result.l1_hits)),
        *([("hits in shared L1s", number(result.shared_l1_hits))] if result.shared_l1_sectors else []),
        ("hits in the L2", number(result.l2_hits)),
        *([("hits in the last-level cache", number(result.last_level_hits))] if result.last_level_sectors else []),
        ("launches", number(len(result.launch_ticks))),
    ])  # fmt: skip
    if result.time is not None:
        whole = sum(result.time.values())
        rows = [(name, share(ticks, whole), WHAT_TIME_MEANS[name]) for name, ticks in result.time.items()]
        yield table("Where the time of core groups went", ("", "", ""), rows, left=(0, 2))


@parts_of.register
def _of_prediction(prediction: Prediction) -> Parts:
    yield Text(repr(prediction), style="bold")
    terms = [
        (name, number(cycles), "binds" if name == prediction.bound else "") for name, cycles in prediction.terms.items()
    ]
    yield table("Terms", ("", "cycles", ""), terms, left=(0, 2))
    yield table("Symbols", ("", ""), list(_numbers(prediction.symbols)))
    yield Text(f"Source: {prediction.source}")


@parts_of.register
def _of_counts(counts: Counts) -> Parts:
    yield Text(repr(counts), style="bold")
    known = {name: value for name, value in counts.to_dict().items() if type(value) in (int, float)}
    yield table("", ("", ""), list(_numbers(known)))


@parts_of.register
def _of_trace(trace: Trace) -> Parts:
    info = trace.info
    yield Text(repr(trace), style="bold")
    rows = [(name, str(value)) for name, value in info.parameters.items()]
    if rows:
        yield table("Parameters", ("", ""), rows, left=(0, 1))
    arrays = [
        (array.name, array.dtype, " x ".join(map(str, array.shape)), number(array.bytes))
        for array in info.arrays[:MOST_ROWS]
    ]
    if arrays:
        yield table("Arrays", ("", "type", "shape", "bytes"), arrays, left=(0, 1))
        yield from _more(len(info.arrays), "arrays")


@parts_of.register
def _of_workload(workload: Workload) -> Parts:
    yield Text(repr(workload), style="bold")
    held = {
        "launches": workload.launches,
        "blocks": workload.blocks,
        "warps": workload.warps,
        "operations": workload.operations,
        "chunks": len(workload.chunks),
    }
    yield table("", ("", ""), list(_numbers(held)))


@parts_of.register
def _of_study(study: Results) -> Parts:
    yield Text(repr(study), style="bold")
    compute = study.design.compute
    columns = (*study.design.axes, *(f"{label(name)}, cycles" for name in compute), "status")
    rows = []
    for place in range(min(len(study), MOST_ROWS)):
        values = [str(column.values[column.places[place]]) for column in study.axes.values()]
        times = [float(study.cycles[name][place]) for name in compute]
        texts = [NO_VALUE if isnan(time) else number(time) for time in times]
        rows.append((*values, *texts, study.table["status"][place].as_py()))
    yield table("", columns, rows, left=(len(columns) - 1,))
    yield from _more(len(study), "points: `to_frame()` has all")


@parts_of.register
def _of_findings(found: Findings) -> Parts:
    yield Text(repr(found), style="bold")
    for answer in answers(found.study, found):
        yield table(answer.title, answer.header, answer.rows, left=answer.left)
        yield from map(Text, answer.more)


def _numbers(values: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        yield name, number(value)


def _more(there: int, what: str) -> Parts:
    if there > MOST_ROWS:
        yield Text(f"The first {MOST_ROWS} of {there:,} {what}")
