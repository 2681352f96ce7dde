"""Traces, measured times and texts of other tools with anything in them are read, or refused in one line."""

import gzip
import json
import lzma
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simtmm import load_machine, lower
from simtmm.calibration.latency_levels import find_levels, load_latency
from simtmm.calibration.streams.occupancy_curve import load_stream
from simtmm.errors import SimtmmError
from simtmm.measurement.measure import load_measurement
from simtmm.measurement.timings import load_timings
from simtmm.trace.exporters import export_accelsim
from simtmm.trace.importers import import_trace
from tests.examples import examples
from tests.fuzz.bounds import read_or_refused
from tests.fuzz.mutations import Many, changed_bytes, changed_documents, drawn_from
from tests.fuzz.targets.data import (
    CSV,
    CURVES,
    DOCUMENT,
    GPU,
    HUGE,
    KERNEL,
    LATENCY,
    LISTS_OF_RUNS,
    NUMBERS_OF_RUNS,
    TEXTS,
    TIMES,
    TRACE,
    imported,
    shaped,
    used_trace,
    with_metadata,
)  # fmt: skip


@pytest.mark.parametrize("size", [1, 7, 9, 64, 568, 1024, 1025])
def test_a_block_of_another_size_than_its_rows_have_is_refused(folder, size):
    """By the digest, or before that where it fits no machine: drawn as a bit of a file."""
    path = with_metadata(folder, json.dumps(shaped(0, "block", 0, size)).encode())
    with pytest.raises(SimtmmError):
        used_trace(path)


# Traces: their metadata; what Parquet holds besides is its library's to read


def test_the_trace_that_is_changed_is_lowered(folder):
    assert used_trace(with_metadata(folder, json.dumps(DOCUMENT).encode())).blocks == 4


SIZES = drawn_from(HUGE)
DOCUMENTS = changed_documents(Many([DOCUMENT]), SIZES).map(lambda document: json.dumps(document).encode())
SHAPES = st.builds(
    lambda which, key, axis, size: json.dumps(shaped(which, key, axis, size)).encode(),
    st.integers(0, 1), st.sampled_from(["grid", "block"]), st.integers(0, 2), st.sampled_from(HUGE),
)  # fmt: skip


@examples(60)
@example(document=json.dumps(shaped(0, "grid", 0, 2**31 - 1)).encode())  # more tables than there is memory
@example(document=json.dumps(shaped(1, "grid", 1, 10**9)).encode())
@example(document=json.dumps(shaped(0, "grid", 0, 2.5)).encode())  # no whole number
@given(DOCUMENTS | SHAPES | changed_bytes(Many([json.dumps(DOCUMENT).encode()])))
def test_a_trace_is_lowered_or_refused(folder, document):
    path = with_metadata(folder, document)
    read_or_refused(lambda: used_trace(path))


@pytest.fixture(scope="module")
def whole(folder):
    """The bytes of the trace's file, and what is lowered of it."""
    TRACE.save(folder / "damaged.parquet")
    return (folder / "damaged.parquet").read_bytes(), lower(TRACE, load_machine("gtx280")).digest()


@examples(150)
@given(st.data())
def test_a_damaged_file_is_lowered_as_it_was_or_refused(folder, whole, data):
    """All of Parquet, not the metadata alone: its footer, the headers of its pages, what is packed in them."""
    content, digest = whole
    path = folder / "damaged.parquet"
    path.write_bytes(data.draw(changed_bytes(Many([content]))))
    lowered = read_or_refused(lambda: used_trace(path), path)
    assert lowered is None or lowered.digest() == digest


@examples(40)
@given(data=st.data())
def test_a_trace_of_other_runs_is_lowered_or_refused(folder, data):
    """Its file is whole, and its metadata fits: what the rows say a block's threads have in common does not."""
    path = with_metadata(folder, json.dumps(DOCUMENT).encode())
    table = pq.read_table(path)
    columns = {name: table[name].to_pylist() for name in table.column_names}
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(table.column_names))
        row = data.draw(st.integers(0, len(table) - 1))
        if name not in LISTS_OF_RUNS:
            columns[name][row] = max(-(2**31), min(data.draw(st.sampled_from(NUMBERS_OF_RUNS)), 2**31 - 1))
            continue
        made = list(columns[name][row] or [])
        at = data.draw(st.integers(0, len(made)))
        number = data.draw(st.sampled_from(NUMBERS_OF_RUNS))
        made[at : at + data.draw(st.integers(0, 2))] = [abs(number) if name == "threads" else number]
        columns[name][row] = None if name != "values" and data.draw(st.integers(0, 9)) == 0 else made
    pq.write_table(pa.Table.from_pydict(columns, schema=table.schema), path)
    read_or_refused(lambda: used_trace(path))


# Measured times


@examples(150)
@given(changed_bytes(Many([json.dumps(TIMES).encode()])) | changed_documents(Many([TIMES])).map(json.dumps))
def test_times_in_json_are_read_or_refused(folder, text):
    path = folder / "t.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    times = read_or_refused(lambda: load_timings(path), path)
    assert all(0 < time.seconds < float("inf") for time in times or ())
    read_or_refused(lambda: load_measurement(path), path)


@examples(200)
@given(changed_bytes(Many([CSV, *CURVES])))
def test_times_in_csv_are_read_or_refused(folder, text):
    path = folder / "t.csv"
    path.write_bytes(text)
    times = read_or_refused(lambda: load_timings(path), path)
    assert all(0 < time.seconds < float("inf") for time in times or ())
    read_or_refused(lambda: load_stream(path, GPU), path)
    curve = read_or_refused(lambda: load_latency(path, GPU), path)
    if curve is not None:
        read_or_refused(lambda: find_levels(curve))


def test_the_times_that_are_changed_are_read(folder):
    (folder / "t.json").write_text(json.dumps(TIMES))
    (folder / "t.csv").write_bytes(CSV)
    assert find_levels(load_latency(LATENCY, GPU))
    assert [len(load_timings(folder / name)) for name in ("t.json", "t.csv")] == [2, 2]


# Texts of other tools


@pytest.mark.parametrize("name", TEXTS)
@examples(100)
@given(st.data())
def test_a_text_of_another_tool_is_imported_or_refused(folder, name, data):
    content = data.draw(changed_bytes(Many(TEXTS[name])))
    output = data.draw(st.sampled_from([None, folder / "o.parquet"]))
    read_or_refused(lambda: imported(folder, name, content, output))


@examples(25)
@given(changed_bytes(Many([KERNEL])))
def test_what_is_imported_is_exported_and_comes_back_or_is_refused(folder, content):
    """The same trace, but where the export says that work was merged."""
    result = read_or_refused(lambda: imported(folder, "k.traceg", content))
    if result is None:
        return
    shutil.rmtree(folder / "exported", ignore_errors=True)
    written = read_or_refused(lambda: export_accelsim(result, folder / "exported", 80))
    if written is not None:
        back = import_trace(folder / "exported" / "kernelslist.g")
        assert back.info.events == result.info.events or written.merged
        assert back.info.digest == result.info.digest or written.merged


@examples(60)
@given(st.sampled_from([gzip.compress, lzma.compress]).flatmap(lambda pack: changed_bytes(Many([pack(KERNEL)]))))
def test_a_packed_text_is_imported_or_refused(folder, content):
    read_or_refused(lambda: imported(folder, "k.traceg.xz", content))


@pytest.mark.parametrize("name", TEXTS)
def test_the_texts_that_are_changed_are_imported(folder, name):
    assert imported(folder, name, TEXTS[name][0]).info.events > 0
