"""The tables of docs/accuracy, but for what is simulated and modelled in them, are those that their cases make.

Here nothing is compiled, recorded or simulated: what takes long answers at once, in numbers that are easily followed
to the tables. So all points are made, and not the few of a sample: which measured values stand in which table, what
each is called, what was taken for its measured value in the table's unit, its place in the picture, and all texts.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.model.series import SIMULATED
from simtmm.validation.cases import (
    REPRODUCTIONS,
    ablation,
    barrel,
    convolution_counters,
    gtx280_list_ranking,
    gtx280_thesis,
    gtx480_apsp,
    h100_compiled,
    h100_kernels,
    h100_sxm,
    l2_and_launches,
    ladder,
    reproduce,
    stream_left_out,
    stream_occupancy,
    zigzag,
)  # fmt: skip
from simtmm.validation.compiled.programs import READ_PARTS_BYTES, READ_PARTS_THREADS
from simtmm.validation.snapshot import SAME, TEXTS, read
from tests.whole import ROOT

KEPT = read(ROOT / "docs" / "accuracy")
SECONDS = 1.0  # of whatever runs
GROUPS = {"a100-80": 108, "h200": 132, "mi210": 104}  # of the machines whose L2s are read
TITLES = {"a100-80": "A100 80 GB", "h200": "H200", "mi210": "MI210"}
PEAKS = {"gtx480": 15, "tesla-c1060": 30}  # blocks of a wave


def ran(program, *_, **__):
    """A run that takes a second: of trips one for each, of blocks that read one for each time that they fill it."""
    trips, waves = program.get("trips", 1), program.get("blocks", 1) / program.get("underway", 1)
    is_reading = "underway" in program
    return SimpleNamespace(result=SimpleNamespace(seconds=SECONDS * (waves if is_reading else int(trips))))


def parameters_of(kernel, parameters):
    """A program, in the place of which its parameters stand."""
    numbers = {name: float(value) for name, value in parameters.items()}
    return {name: value for name, value in numbers.items() if name != "blocks" or kernel == "read_parts"}


def curve(machine, points, watch=None):
    """A gigabyte a second for each point and operation."""
    operations = tuple(points[0].measured)
    return SimpleNamespace(
        operations=operations,
        points=[SimpleNamespace(point=point, bandwidth=dict.fromkeys(operations, 1e9)) for point in points],
    )


def said_of_rules(time, own, machines):
    """One microsecond, with all rules and without each that the machine has."""
    return {series: 1.0 for series, (machine, rule) in machines.items() if rule is None or machine is not own}.items()


def waves(machine, kernel, parameters, most, watch=None):
    """Throughput that is one block more with each block, and falls to half behind each wave."""
    blocks, wave = np.arange(1, most + 1), PEAKS[machine]
    throughput = np.where(blocks % wave == 1, 0.5, 1.0) * blocks
    return zigzag.Sweep(machine, None, throughput)


def modelled_waves(machine, launch, blocks):
    return SimpleNamespace(period=PEAKS[machine], relative_throughput=np.ones(len(blocks)))


def squared(machine, n, of_side, watch=None):
    """Squarings that take 12 s and 30 / T s more."""
    for side, shapes in of_side.items():
        for blocks, warps in shapes:
            threads = blocks * warps * 32 / 32
            series = (SIMULATED, gtx480_apsp.WITH_L2, gtx480_apsp.WITHOUT_L1)
            said = dict.fromkeys(series, 12 + 30 / threads)
            is_forced = (blocks, warps) in gtx480_apsp.FORCED.get(side, ())
            yield gtx480_apsp.Run(side, blocks, threads, is_forced, said)


def timed(machine, kernel, parameters):
    """Launches of the three phases, of which the last is again the first that was told: 1, 2, 4 and 8 ms."""
    return gtx280_thesis.Timed((("split", 1.0), ("local_rank", 2.0), ("split", 4.0), ("recombine", 8.0)))


def throughputs(machine, references):
    """Streams in proportion until they fill the pipeline."""
    of = f"{machine.name}, {references} in flight"
    cycles = barrel.cycles_of_an_element(machine, references)
    for count in barrel.STREAMS:
        expected = min(1 / 2, count / cycles)
        yield barrel.Measured(f"{of}, {count} streams", expected, {SIMULATED: expected}, at=count, group=of)


def counted(configuration):
    """What was measured: only where compilers agree, and how large code is, has to come from the tables."""
    found = {
        point.group: point.said["counted"]
        for kept in KEPT
        if kept.reproduction == "convolution-counters"
        for point in kept.accuracy.points
        if point.case == str(configuration)
    }
    labels = convolution_counters.LABELS
    large = found.pop("sectors read, code above 48 KiB", None)
    numbers = {name: found.get(label, large) for name, label in labels.items()}
    return {**numbers, "code_bytes": 1024 * (48.0 if large is None else 48.01)}


def of_each_time(time, machine):
    return {SIMULATED: 1.0}


COMPUTE_NOTHING = {
    "stream-occupancy": {stream_occupancy: {"occupancy_curve": curve, "modelled": lambda *_: {}}},
    "stream-left-out": {stream_left_out: {"occupancy_curve": curve, "modelled": lambda *_: {}}},
    "h100-kernels": {h100_kernels: {"times": of_each_time}},
    "gtx280-list-ranking": {gtx280_list_ranking: {"milliseconds": lambda n, machine: {SIMULATED: n / 1e6}}},
    "gtx280-thesis": {gtx280_thesis: {"timed": timed}},
    "gtx480-apsp": {gtx480_apsp: {"squarings": squared}},
    "zigzag": {zigzag: {"sweep": waves, "zigzag": modelled_waves}},
    "barrel": {barrel: {"curve": throughputs}},
    "h100-compiled": {h100_compiled: {"times": of_each_time}},
    "ladder": {ladder: {"run": ran, "program": parameters_of}},
    "l2-and-launches": {l2_and_launches: {"run": ran, "program": parameters_of}},
    "h100-sxm": {h100_sxm: {"run": ran, "program": parameters_of, "occupancy_curve": curve}},
    "convolution-counters": {convolution_counters: {"counters": counted}},
    "ablation": {ablation: {"occupancy_curve": curve, "_said": said_of_rules}},
}
NOT_HERE = {"contributed"}  # no table was sent yet
OF_ONE_SECOND = ("ladder", "h100-sxm", "l2-and-launches")  # reproductions whose kernels take a second each
TELL_ELSEWHERE = {"stream-occupancy", "stream-left-out", "zigzag", "gtx480-apsp"}  # where they simulate
READ = {f"l2-bandwidth{end}" for end in ("", "-fitted")}  # what is told of these is a bandwidth


@pytest.fixture
def made(monkeypatch):
    def tables(name, watch=None):
        for module, functions in COMPUTE_NOTHING[name].items():
            for function, instead in functions.items():
                monkeypatch.setattr(module, function, instead)
        return {table.name: table for table in reproduce([name], watch, workers=1)[name]}

    return tables


def kept(name):
    return {each.accuracy.name: each.accuracy for each in KEPT if each.reproduction == name}


def text_of(table, text):
    """What a table tells; of waves not the shapes of curves, which are told in the last notes, one for each curve."""
    told = getattr(table, text)
    return told[: -len(table.groups)] if table.name.endswith("zigzag") and text == "notes" else told


def test_all_tables_are_compared():
    assert COMPUTE_NOTHING.keys() | NOT_HERE == REPRODUCTIONS.keys()
    assert {each.reproduction for each in KEPT} == COMPUTE_NOTHING.keys()


@pytest.mark.parametrize("name", COMPUTE_NOTHING)
def test_a_table_is_as_the_documents_have_it(made, name):
    found, known = made(name), kept(name)
    assert list(found) == list(known)
    for table in known.values():
        own = found[table.name]
        assert {text: text_of(own, text) for text in TEXTS} == {text: text_of(table, text) for text in TEXTS}
        told = [(point.case, point.group, point.at) for point in own.points]
        assert told == [(point.case, point.group, point.at) for point in table.points], table.name
        measured = [point.measured for point in table.points]
        assert [point.measured for point in own.points] == pytest.approx(measured, rel=SAME), table.name


@pytest.mark.parametrize("name", [name for name in COMPUTE_NOTHING if name not in TELL_ELSEWHERE])
def test_a_reproduction_tells_how_far_it_is(made, name):
    """Each point, or program, as it begins, of as many as there are."""
    told = {}
    made(name, lambda stage, done, total: told.setdefault((stage, total), []).append(done))
    assert told
    for (_, total), done in told.items():
        assert done == list(range(total))


def values(table, series=SIMULATED):
    return {point.case: point.said[series] for point in table.points}


@pytest.mark.parametrize("name", OF_ONE_SECOND)
def test_a_second_is_a_million_microseconds(made, name):
    """Of a trip as well, and of a node of a graph; a stream's gigabyte a second stays one."""
    for table in made(name).values():
        if table.name not in READ:
            assert set(values(table).values()) == {1.0 if table.unit == "GB/s" else 1e6}, table.name


def test_a_bandwidth_is_of_the_blocks_that_begin_and_end_in_between(made):
    """A second for each time that blocks fill the machine: 2048 threads of a group, each block with its part."""
    for name in READ:
        for case, bandwidth in values(made("l2-and-launches")[name]).items():
            machine = next(machine for machine in GROUPS if TITLES[machine] == case.partition(",")[0])
            blocks = GROUPS[machine] * 2048 / READ_PARTS_THREADS
            assert bandwidth == pytest.approx(blocks * READ_PARTS_BYTES / 1e9), case


@pytest.mark.parametrize("name", ["stream-occupancy", "stream-left-out"])
def test_a_stream_s_bandwidth_is_told_in_gigabytes(made, name):
    for table in made(name).values():
        for series in table.series:
            assert set(values(table, series).values()) == {1.0}, table.name


def test_a_rule_has_a_column_where_a_machine_has_the_rule(made):
    for name, table in made("ablation").items():
        assert table.series == kept("ablation")[name].series
        assert {value for point in table.points for value in point.said.values()} == {1.0}


def test_phases_are_told_by_their_first_iteration(made):
    """1, 2, 4 and 8 ms: the launch between is a later iteration's."""
    of_phase = {"split": 1.0, "local ranking": 2.0, "recombine": 8.0, "later iterations": 4.0, "total": 15.0}
    tables = made("gtx280-thesis")
    assert {point.group: point.said[SIMULATED] for point in tables["gtx280-phases"].points} == of_phase
    assert set(values(tables["gtx280-ratios"]).values()) == {1.0}
    for point in tables["gtx280-preorder"].points:
        assert point.said[SIMULATED] == pytest.approx(15e6 / point.at)  # ns of a vertex
        # Two arcs a vertex, each 82.542 ms / 2^24 (Table 6.2)
        assert point.said[gtx280_thesis.BY_TABLE] == pytest.approx(2 * 82.542e6 / 2**24)


def test_elements_of_a_list_take_nanoseconds(made):
    """A millionth of a millisecond for each element is a nanosecond."""
    tables = made("gtx280-list-ranking")
    assert set(values(tables["gtx280-local-ranking-per-element"]).values()) == {1.0}
    of_table = [point.said[gtx280_list_ranking.TABLE] for point in tables["gtx280-local-ranking"].points]
    known = kept("gtx280-list-ranking")["gtx280-local-ranking"]
    assert of_table == [point.said[gtx280_list_ranking.TABLE] for point in known.points]


def test_knees_are_where_the_line_has_its_share_of_the_level(made):
    """Times of 12 s and 30 / T s: with the line's level of 78 % at a knee, T is 30 / 12 over 1 / 0.78 less 1."""
    points = made("gtx480-apsp")["gtx480-apsp-knees"].points
    known = kept("gtx480-apsp")["gtx480-apsp-knees"].points
    for point, stored in zip(points, known, strict=True):
        share = 53.9 / (0.957 * 8192 / point.at / point.measured + 53.9)
        for series in (SIMULATED, gtx480_apsp.WITH_L2, gtx480_apsp.WITHOUT_L1):
            assert point.said[series] == pytest.approx(30 / 12 / (1 / share - 1))
        for series in ("tmm", "tmm, C = 1"):
            assert point.said[series] == stored.said[series]


def test_peaks_are_where_throughput_falls(made):
    for table in made("zigzag").values():
        wave = PEAKS[table.machine]
        for point in table.points:
            assert set(point.said.values()) == {wave * (point.at or 1)}, point.case


def test_streams_fill_a_pipeline_at_the_knee(made):
    """Where throughput bends, to the streams that were tried on both sides of it."""
    for point in made("barrel")["barrel-knees"].points:
        assert point.said[SIMULATED] == pytest.approx(point.measured, rel=0.03)  # promised of it
