"""Limits and thresholds that the documents tell are those of the sources.

A sentence stands here as its page has it, but with the names of constants in the place of their numbers:
`{sampling.stretches:HEAD}` is HEAD of simtmm.sampling.stretches, as `|percent`, `|MiB` and so on say.
"""

import math
import re
from importlib import import_module

import pytest

from tests.whole import ROOT

NAMES = "zero one two three four five six seven eight nine ten eleven twelve"
WORDS = dict(enumerate(NAMES.split()))
SHOWN = {
    None: lambda value: f"{value:,}" if isinstance(value, int) else f"{value:g}",
    "percent": lambda value: f"{100 * value:g} %",
    "above_one": lambda value: f"{100 * (value - 1):.3g} %",
    "ten": lambda value: "{} 10^{}".format(*_by_ten(value)).removeprefix("1 "),
    "two": lambda value: f"2^{math.log2(value):g}",
    "word": lambda value: WORDS.get(value, str(value)),
    "Word": lambda value: WORDS.get(value, str(value)).capitalize(),
    "KiB": lambda value: f"{value / 2**10:g} KiB",
    "MiB": lambda value: f"{value / 2**20:g} MiB",
    "GiB": lambda value: f"{value / 2**30:g} GiB",
    "MB": lambda value: f"{value / 1e6:g} MB",
    "millions": lambda value: f"{value / 2**20:g} million",
    "whole": lambda value: f"{value:,.0f}",
    "points": lambda value: f"{100 * value:g}",
    "kilo": lambda value: f"{value / 1024:g}",
}
CONSTANT = re.compile(r"\{(?P<module>[\w.]+):(?P<name>\w+)(?:\[(?P<at>[\w-]+)\])?(?:\|(?P<shown>\w+))?\}")
PAGES = {
    "sampling": (
        "The default interval is {sampling:DEFAULT_ERROR|percent}.",
        "program has no more than {sampling.program:QUICK|ten} warp operations",
        "the first {sampling.stretches:HEAD} waves, or as many as it takes to fill the L2 ({sampling.program:FILLED} "
        "times its lines)",
        "{sampling.program:TIMED} of them at first, each at a random place",
        "three dimensions is 1 to {sampling.stretches:LONGEST_ROW} waves",
        "the last {sampling.stretches:TAIL|word} waves and the remainder",
        "{sampling.interval:SYSTEMATIC|percent} of what was left out, for what no repetition shows",
        "all blocks of a trace, and {sampling.differing.looks:LEAST} to {sampling.differing.looks:MOST} blocks of each",
        "into consecutive cells of {sampling.differing.profile:WAVES_OF_CELL|word} waves or "
        "{sampling.differing.profile:IN_CELL|word} probes",
        "cells that do other things, {sampling.differing.profile:APART|percent} of their events or more",
        "proportion if there are fewer than {sampling.trend:LINE|word}",
        "compared by what {sampling.differing.looks:OF_LAUNCH|word} of their blocks do",
        "by work, {sampling.strata:IN_OCTAVE|word} strata within a factor of 2",
        "{sampling.strata:LAUNCHES|word} are simulated at first, one drawn from each third by work",
        "if work differs by more than {sampling.trend:EQUAL|percent}, the value of a line through them",
        "If more than {sampling.program:LONG|ten} operations would be needed",
        "about the first {sampling.long.steady:TOGETHER|word} waves",
        "and {sampling.long.steady:STEADY_SYSTEMATIC|percent} besides",
        "have *phases*, each of {sampling.long.cuts:LONG|percent} of the work or more",
        "and {sampling.long.steady:PHASES_SYSTEMATIC|percent} instead of "
        "{sampling.long.steady:STEADY_SYSTEMATIC|percent}",
        "With an `--error` of {sampling.total:COARSE|percent} or more, simtmm simulates some groups",
        "{sampling.part_of_machine:WARM|Word} waves warm the part up. Then the pace of "
        "{sampling.part_of_machine:PACED} to {sampling.part_of_machine:MOST_PACED} waves",
        "the first number from {sampling.part_of_machine:FEWEST} up to half of the machine's",
        "miss their shares by {sampling.part_of_machine:UNEVEN|percent} at most, together",
        "The interval adds {sampling.part_of_machine:SYSTEMATIC|percent} of the time",
        "would take too long ({sampling.part_of_machine:MOST_EVENTS|ten} events)",
        "Launches of less than {sampling.part_of_machine:SMALL|ten} events are sampled as usual",
        "the interval adds {sampling.total:LATE_SYSTEMATIC|percent} of what was left out instead of "
        "{sampling.interval:SYSTEMATIC|percent}",
    ),
    "studies": (
        "user's cache folder (`$SIMTMM_CACHE`, {study.evaluation.recorded_traces:MOST_KEPT|GiB}",
        "From {study.results:LARGE} points on, the points are columns in JSON",
        "a store for each program ({study.store.kept:MOST_KEPT|GiB} in all",
        "corrects an estimate that was more than {report.progress:OFF} times off",
        "if the estimate is more than {report.progress:LONG|word} seconds",
        "Where nothing is foreseen after {report.progress:FIRST|word} seconds",
        "Elsewhere there is a line after {report.progress:LINES|word} seconds",
        "it computes up to {study.evaluation.estimating:MOST_TRIED|word} of the points",
        "stored as parts of {study.evaluation.closed_forms:PART} points",
        "From {study.results:LARGE} points on, the points are columns in JSON",
        "a curve's times to within {study.shapes:NAMED|percent} (root mean square)",
        "their elasticities must differ by {study.shapes:STEP} at least",
        "than {study.findings:MOST_CURVES} curves, forms, knees and changes are those of {study.findings:MOST_CURVES},",
    ),
    "tune": (
        "does not try all of more than {analysis.tuning.space:MOST_CONFIGURATIONS} combinations",
        "(default {analysis.tuning.sampler:TRIALS}), {analysis.tuning.search:BATCH|word} at a time",
        "If there are more than {analysis.tuning.search:FINALISTS|word} configurations",
        "how many configurations are within {analysis.tuning.tuned:FLAT|percent} of the best",
        "the best third; {analysis.tuning.search:FINALISTS|word} stay in any case",
        "Reported.** The best {analysis.tuning.search:FINALISTS|word} (`--top`)",
    ),
    "explore": (
        "{explorer.curve:POINTS} values at equal ratios, or {explorer.curve:POINTS_OF_PARAMETER} of a kernel's "
        "parameter",
        "Up to {explorer.simulation:SOON} operations and chunks are simulated whole at once. A longer program first "
        "shows a sample of {explorer.simulation:OF_SAMPLE}",
        "A curve of more than {explorer.curve:WORK} is one of samples",
        "{explorer.programs:MOST_LOWERED|word} are cached, as far as they fit {explorer.programs:MOST_BYTES|MiB}",
        "{explorer.programs:MOST_PROGRAMS|Word} recordings are cached",
        "A program of more than {explorer.simulation:MOST_TIMELINE} operations has no timeline",
        "of more than {explorer.state:MOST_TEXT} characters, more than {explorer.server:MOST_PAGES} pages and more "
        "than {explorer.server:MOST_CONNECTIONS} connections at once",
    ),
    "pictures": (
        "If an axis of a heat map has more than {report.pictures.charts:MOST_TICKS} values",
        "Numbers on axes are scientific from {report.pictures.axes:LARGE|whole} on",
        "and names are cut at {report.trace_events.text:LONGEST_LINE} and {report.trace_events.text:LONGEST_NAME} "
        "characters",
        "{report.trace_events.file:MOST_CHANGES} times, it has means over {report.trace_events.file:MOST_CHANGES}",
        "by default as many as make {report.trace_events.file:MOST_BYTES|MB}",
        "up to {report.trace_events.choice:MOST_WINDOWS} windows of one length",
        "are refused: {report.pictures.looks:STYLES} that are no series",
    ),
    "sass": (
        "its first blocks ({cuda.disagreement.comparison:THREADS} threads) run twice",
        "to {cuda.disagreement.memory:CLOSE|percent} where they hold real numbers",
        "compares nothing where arrays take more than {cuda.disagreement.comparison:MOST_COMPARED|MiB}",
        "where PTX takes more than {cuda.disagreement.comparison:SECONDS} seconds",
    ),
    "kernels": (
        "A block of more than {trace.runs.mapped:LONG|millions} events goes to a temporary file",
        "A recording of more than {recorder.limits:MOST_BYTES|MiB}",
        "a host program that launches more than {recorder.limits:MOST_LAUNCHES|two} times",
    ),
    "why": (
        "A trace stores the text of up to {recorder.compiled.listings:MOST} instructions",
        "of at most {analysis.source_changes.loads:CONSTANT_BYTES|kilo} KB",
        "One block does the work of {analysis.source_changes.cooperation:TIMES|word} up to the first barrier",
        "Without barriers, and with many blocks, one does the work of {analysis.source_changes.launch_shape:EACH|word}",
        "One in {analysis.source_changes.shared_memory:IN_REGISTERS|word} reads of shared memory at the line is left",
        "each value is used for {analysis.source_changes.shared_memory:IN_REGISTERS|word} results",
        "where a value is read less than {analysis.source_changes.shared_memory:REUSED|word} times",
        "whose results are there after {analysis.source_changes.changes:SOON} cycles",
        "one in {analysis.source_changes.arithmetic:OF_A_DIVISION|word} instructions is left",
        "one in {analysis.source_changes.arithmetic:OF_A_FUNCTION|word} instructions is left",
        "`expf` or `exp10f`, one in {analysis.source_changes.arithmetic:OF_AN_EXPONENTIAL|word}",
        "Blocks of up to {analysis.source_changes.launch_shape:SMALL} threads without barriers become one of "
        "{analysis.source_changes.launch_shape:USUAL} threads",
        "A block becomes {analysis.source_changes.launch_shape:PARTS[0]|word} or "
        "{analysis.source_changes.launch_shape:PARTS[1]|word} with consecutive warps, where so "
        "{analysis.source_changes.launch_shape:MORE} times as many warps fit",
        "Blocks with at least {analysis.source_changes.uneven:MANY_TIMES|word} times the median block's work",
        "At most {analysis.source_changes.advice:MOST_TOLD|word} changes are shown",
        "each gains {analysis.source_changes.advice:WORTH_TELLING} or more, or "
        "{analysis.source_changes.advice:WORTH_TELLING_EXACT} if its operations are exactly",
        "the hottest loop unrolled {analysis.compiled_variants.variants:UNROLLED} times",
        "for about {analysis.source_changes.advice:SECONDS} s in all",
    ),
    "import": (
        "An opcode has at most {trace.importers.opcodes:LONGEST_OPCODE} characters, a trace "
        "{trace.importers.opcodes:MOST_OPCODES} of them, and a header "
        "{trace.importers.accelsim.header:MOST_HEADER|KiB}",
        "If these would be more than {trace.importers.blocks:MOST_STRETCHES}, or more than 4 GiB in pages",
    ),
    "scaling": (
        "From {study.results:LARGE} points on these are columns, not objects",
        "Operations of a trace are held up to {trace.lower:MOST_HELD|MiB}",
        "Beyond {recorder.limits:MOST_BYTES|MiB}, a recording without a file goes to a temporary file",
    ),
    "checks": ("anything more than {cuda.checks.state:RING} groups of a thread back",),
    "hopper": ("up to {cuda.checks.state:MOST_OF_CLUSTER} blocks; `barrier.cluster`",),
    "help": (  # what commands say of their options
        "number of timed runs; default: {measurement.measure:REPEAT}, or {measurement.campaign:REPEAT} with --all",
        "number of points that --draw draws; default: {requests.sweep:SAMPLES}",
        "how many configurations the sampler chooses; default: {analysis.tuning.sampler:TRIALS}",
        "the factor within which a measured time agrees; default: {model.departure:DEFAULT_FACTOR}",
        "sample beyond N events; default: what fits {report.trace_events.file:MOST_BYTES|MB}",
    ),
    "threats": (
        "| TOML | {documents:LARGEST_TOML|MiB}; {documents:MOST_LINES} lines",
        "tables {documents:DEEPEST} deep; whole numbers of 64 bits",
        "rows that users send | {documents:LARGEST_FILE|MiB}; {documents:MOST_ROWS} lines",
        "scripts as files | {documents:LARGEST_CODE|MiB}; {documents:MOST_CODE_LINES} lines, of CUDA of at most "
        "{documents:LONGEST_CODE_LINE|MiB} each",
        "a module, CUDA or PTX | {cuda.compilers.module:MOST_KERNELS} kernels; functions of "
        "{cuda.compilers.long_functions:MOST_STATEMENTS} statements",
        "readable names of kernels | {cuda.compilers.names.demangling:LONGEST} characters",
        "in {cuda.compilers.names.demangling:PROCESSOR_SECONDS} seconds and 1 GiB",
        "headers that are read | files of {cuda.compilers.includes:LARGEST|MiB}",
        "constraints | {parameter.expression:MOST_CHARACTERS} characters, {parameter.expression:DEEPEST} operations "
        "deep",
        "values and numbers of a problem in T1 | {analysis.tuning.t1:MOST_VALUES} to a parameter",
    ),
    "cuda-programs": (
        "{analysis.host.host_change:OFTEN|word} or more copies of up to {analysis.host.changes:SMALL|kilo} KB, made at "
        "one line between two launches",
        "a line that waits {analysis.host.host_change:OFTEN|word} times or more no longer waits",
        "allocate and free {analysis.host.host_change:OFTEN|word} times or more",
        "if threads call it {recorder.compiled.finish:MANY_PRINTS} times or more, the report says so",
        "with more than {recorder.direct.journal:MOST} calls has no such tables",
    ),
    "calibration": (
        "off by more than {calibration.hierarchy.together:WELL|percent} on average, it begins once more",
        "If it differs from that by more than {calibration.hierarchy.together:OFF|points} points",
        "If the gain is below {calibration.hierarchy.joint:MISSED|points} points",
        "as many blocks as move {calibration.streams.kernels:BYTES_A_GROUP|KiB} of each array in each group, up to "
        "{calibration.streams.kernels:MOST_WAVES} waves of them",
        "A plateau within {calibration.chase:SAME_MEMORY|above_one} of the last one counts as global memory",
        "plateaus that differ by less than {calibration.latency_levels:SAME_LEVEL|above_one} are one level",
    ),
}  # fmt: skip

HELP = ("simtmm/cli", "simtmm/requests")


def _by_ten(value):
    """A number as a figure and the power of ten that it is multiplied by."""
    figure, power = f"{value:e}".split("e")
    return f"{float(figure):g}", int(power)


def told(sentence):
    """A sentence with its numbers."""

    def number(found):
        value = getattr(import_module(f"simtmm.{found['module']}"), found["name"])
        return SHOWN[found["shown"]](value if found["at"] is None else value[int(found["at"])])

    return CONSTANT.sub(number, sentence)


def text_of(page):
    if page == "help":
        texts = [path.read_text(encoding="utf-8") for room in HELP for path in sorted((ROOT / room).rglob("*.py"))]
        return "\n".join(texts)
    return " ".join((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("page", PAGES)
def test_a_page_tells_the_numbers_of_the_sources(page):
    text = text_of(page)
    assert [told(sentence) for sentence in PAGES[page] if told(sentence) not in text] == []


def test_each_sentence_names_a_constant_and_a_changed_one_is_seen(monkeypatch):
    for page, sentences in PAGES.items():
        text = text_of(page)
        for sentence in sentences:
            assert CONSTANT.search(sentence), sentence
            for found in CONSTANT.finditer(sentence):
                module = import_module(f"simtmm.{found['module']}")
                value = getattr(module, found["name"])
                another = tuple(3 * each for each in value) if isinstance(value, tuple) else 3 * value
                with monkeypatch.context() as changed:
                    changed.setattr(module, found["name"], another)
                    assert told(sentence) not in text, sentence
