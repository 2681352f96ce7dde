"""Traces on disk: the same back, whole or refused."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from simtmm import load_trace, lower
from simtmm.errors import OutputError, TraceError
from simtmm.trace.parquet import COLUMNS
from simtmm.trace.schema import METADATA_KEY
from tests.trace.build import load, trace, work
from tests.trace.rows import write_rows
from tests.trace.test_lower import machine


@pytest.fixture
def program():
    blocks = [[[load(0, 32 * block + 4 * lane), work(1, block + 1)] for lane in range(3)] for block in range(6)]
    return trace(blocks, blocks[:2])


@pytest.fixture
def saved(program, tmp_path):
    """A file with a row an event, as they were before there were runs."""
    path = tmp_path / "t.parquet"
    write_rows(path, program.batches(), program.info)
    return path


def rewrite(path, table=None, metadata=None, row_group_size=None):
    """Write the file anew with another table or other metadata, as somebody's script might."""
    old = pq.read_table(path)
    document = json.loads(pq.ParquetFile(path).metadata.metadata[METADATA_KEY])
    new = old if table is None else table(old)
    document = metadata(document) if metadata else document
    kept = new.replace_schema_metadata({METADATA_KEY: json.dumps(document).encode()})
    pq.write_table(kept, path, row_group_size=row_group_size)


def test_a_saved_trace_comes_back_the_same(program, saved):
    back = load_trace(saved)
    assert back.info == program.info
    assert back.to_table().equals(program.to_table())
    assert lower(back, machine()) == lower(program, machine())


def test_the_columns_are_those_that_the_schema_documents(saved):
    table = pq.read_table(saved)
    assert table.schema.remove_metadata().equals(COLUMNS)
    assert table.column("launch").to_pylist() == [0] * 36 + [1] * 12
    assert table.column("block").to_pylist()[:12] == [0] * 6 + [1] * 6
    assert table.column("thread").to_pylist()[:6] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("rows", [1, 2, 5, 7, 100])
def test_row_groups_of_any_size_read_alike(program, saved, rows):
    rewrite(saved, row_group_size=rows)
    assert lower(load_trace(saved), machine()) == lower(program, machine())


def test_memory_stays_bounded_by_the_row_group(program, saved):
    sizes = [len(batch.events) for batch in load_trace(saved).batches()]
    assert max(sizes) <= 6 + 6  # a row group, and a block that was held back because it might have gone on
    assert sum(sizes) == 48


def refused(path):
    with pytest.raises(TraceError) as caught:
        list(load_trace(path).batches())
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


def test_a_missing_file_is_refused(tmp_path):
    assert "can't be read" in refused(tmp_path / "none.parquet")


def test_a_name_that_is_no_text_is_refused():
    with pytest.raises(TraceError, match="its name is not UTF-8"):
        load_trace("t\udcb1.parquet")


@pytest.mark.parametrize("keep", [0, 3, 50, -1, -9])
def test_a_truncated_file_is_refused(saved, keep):
    data = saved.read_bytes()
    saved.write_bytes(data[:keep])
    assert "is not a whole Parquet file" in refused(saved) or "can't be read" in refused(saved)


def test_a_foreign_parquet_file_is_refused(tmp_path):
    path = tmp_path / "foreign.parquet"
    pq.write_table(pa.table({"a": [1, 2]}), path)
    assert "is not a simtmm trace" in refused(path)


def test_the_right_metadata_on_the_wrong_columns_is_refused(saved):
    rewrite(saved, table=lambda old: old.drop_columns(["bytes"]))
    assert "is not a simtmm trace" in refused(saved)


@pytest.mark.parametrize("broken", [{"version": 99}, {"launches": None}, {"arrays": [{"name": 1}]}, {"events": "x"}])
def test_metadata_of_another_form_is_refused(saved, broken):
    rewrite(saved, metadata=lambda document: {**document, **broken})
    assert "can't be understood" in refused(saved)


def test_missing_rows_are_noticed(saved):
    rewrite(saved, table=lambda old: old.slice(0, 40))
    assert "has 40 rows, but its metadata says 48" in refused(saved)


def test_rows_out_of_order_are_noticed(saved):
    rewrite(saved, table=lambda old: old.take(np.arange(48)[::-1]))
    assert "must be in the order" in refused(saved)


def changed(column, row, value):
    def change(old):
        values = old.column(column).to_numpy().copy()
        values[row] = value
        return old.set_column(COLUMNS.get_field_index(column), COLUMNS.field(column), pa.array(values))

    return change


@pytest.mark.parametrize(
    ("column", "row", "value", "complaint"),
    [
        ("launch", 47, 2, "names a launch or block"),
        ("block", 47, 9, "names a launch or block"),
        ("block", 0, -1, "names a launch or block"),
        ("thread", 5, 3, "threads within the block"),
        ("thread", 5, 0, "must be in the order"),
        ("thread", 5, 65535, "threads within the block"),
        ("thread", 5, 65536 + 2, "threads within the block"),
        ("thread", 5, -1, "threads within the block"),
        ("kind", 3, 77, "kind 77: must be below 10"),
        ("value", 3, 2**63, "must be below 2^62"),
    ],
)
def test_rows_that_contradict_the_metadata_are_noticed(saved, column, row, value, complaint):
    rewrite(saved, table=changed(column, row, value))
    assert complaint in refused(saved)


def test_a_failed_save_leaves_what_was_there(program, tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    path.write_text("before")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OutputError, match="No space left on device"):
        program.save(path)
    assert path.read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.parquet"]
