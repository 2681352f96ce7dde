"""Damaged stores: what is not what was written is never told; a sweep computes it anew."""

import functools
import random
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest

from simtmm.errors import StudyError
from simtmm.parallel.tasks import Task
from simtmm.study.design.design import design_of
from simtmm.study.design.points import points_of
from simtmm.study.design.study_file import study_of
from simtmm.study.evaluation import closed_forms, tasks
from simtmm.study.evaluation.closed_form_times import ClosedFormTimes
from simtmm.study.evaluation.steps import compute
from simtmm.study.store import schema
from simtmm.study.store.store import Store
from simtmm.study.sweep import forecast, read
from simtmm.study.sweep import sweep as sweep_with
from tests.study.programs import designed, write
from tests.study.stores import brought_back, executed, nothing_may_be_written

NAN = float("nan")
sweep = functools.partial(sweep_with, workers=1)  # in this process: no test here is about others


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.sqlite"


@pytest.fixture(scope="module")
def laid(tmp_path_factory):
    """A study whose results are rows."""
    axes = {"memory.latency": [40, 80, 120, 160, 200], "cores.groups": [1, 2], "resources.shared_memory": [64, 1024]}
    return designed(write(tmp_path_factory.mktemp("damage")), axes=axes, compute=["tmm", "pram"])


@pytest.fixture
def in_parts(monkeypatch):
    """A study of closed forms, in parts of two points."""
    monkeypatch.setattr(closed_forms, "PART", 2)
    axes = {"n": [64, 1024, 1e6], "T": [4, 8, 1e9]}
    return design_of(study_of({"program": "list-ranking", "kind": "algorithm", "axes": axes}))


def reported(path, laid):
    with Store(path, make=False) as store:
        return read(laid, store).to_table()


def warnings(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "simtmm"]


def told(read, *given):
    """A table, or None where it is refused in a line."""
    try:
        return read(*given)
    except StudyError:
        return None


@pytest.mark.parametrize("kind", ["points", "parts"])
def test_a_digit_that_was_changed_in_the_file_never_gives_another_table(path, kind, request):
    laid = request.getfixturevalue("in_parts" if kind == "parts" else "laid")
    expected, draw = sweep(laid, path).to_table(), random.Random(1)
    content = path.read_bytes()
    digits = [place for place, byte in enumerate(content) if byte in b"0123456789"]
    refused = 0
    for place in draw.sample(digits, 60):
        changed = bytearray(content)
        changed[place] = draw.choice(sorted(set(b"0123456789") - {content[place]}))
        path.write_bytes(changed)
        table = told(reported, path, laid)
        refused += table is None
        assert table is None or table.equals(expected)
        table = told(lambda: sweep(laid, path).to_table())
        assert table is None or table.equals(expected)
        assert table is None or reported(path, laid).equals(expected)  # the sweep has mended the file
        for beside in path.parent.glob("s.sqlite-*"):
            beside.unlink()
    assert refused > 30  # most digits are of results


@pytest.fixture
def filled(path, laid):
    """A store with a row in each table."""
    with Store(path) as store:
        run = store.begin(laid, points_of(laid), {"command": "one"})
        store.put("key", {"tmm": {"cycles": 1.5}}, {"pram": "no"}, run, 0.5)
        store.skip("other", "does not fit", run)
        store.put_part("key 0 10", b"bytes", 0.5, run)
    return path


@pytest.mark.parametrize(
    ("table", "column"),
    [(table, name) for table, names in schema.COLUMNS.items() for name in names if (table, name) != ("study", "id")],
)
def test_a_row_in_which_one_value_was_changed_is_refused(filled, table, column):
    text = column in ("point", "quantity", "part", "reason", "error", "document")
    executed(filled, f"UPDATE {table} SET {column} = {f'{column} || 1' if text else f'{column} + 1'}")
    refusal = rf"s\.sqlite: table {table}, row '\w.*': is damaged: run the sweep again"
    with Store(filled, make=False) as store, pytest.raises(StudyError, match=refusal):  # noqa: PT012 - one of these
        store.check()
        store.parts()
        store.results()


def test_a_row_that_was_copied_to_another_key_is_refused(filled):
    executed(filled, "INSERT INTO results SELECT 'copy', quantity, document, seconds, run, checksum FROM results")
    with Store(filled) as store:
        for method in (store.results, store.finished):
            with pytest.raises(StudyError, match="table results, row 'copy tmm': is damaged"):
                method()


def test_text_that_is_no_unicode_any_more_is_damage(filled):
    executed(filled, "UPDATE skipped SET reason = CAST(x'64ff65' AS TEXT)")
    with Store(filled) as store, pytest.raises(StudyError, match="table skipped, row 'other': is damaged"):
        store.skipped()


def damage(path, number=1):
    """Change digits of so many results."""
    rows = executed(path, "SELECT point, quantity FROM results WHERE quantity = 'tmm' LIMIT ?", number)
    for row in rows:
        executed(
            path, "UPDATE results SET document = replace(document, '1', '2') WHERE (point, quantity) = (?, ?)", *row
        )
    return rows


def test_a_sweep_computes_anew_what_is_damaged_and_that_alone(path, caplog, monkeypatch, laid):
    expected = sweep(laid, path).to_table()
    assert len(damage(path, 2)) == 2
    seen = []

    def noted(function, arguments, **more):
        if function is compute:
            seen.append(arguments[-3])  # the quantities
        return Task(function, arguments, **more)

    monkeypatch.setattr(tasks, "Task", noted)
    assert sweep(laid, path).to_table().equals(expected)
    assert seen == [("tmm",)] * 2
    assert warnings(caplog) == [f"warning: {path}: is damaged: 2 rows of results; what was there is computed anew"]


def test_what_only_reads_refuses_what_is_damaged_until_it_is_computed_anew(path, laid):
    expected = sweep(laid, path).to_table()
    ((point, _),) = damage(path)
    refusal = rf"table results, row '{point} tmm': is damaged: run the sweep again to recompute what is lost"
    for reading in (reported, lambda path, laid: forecast(laid, path)):
        with pytest.raises(StudyError, match=refusal):
            reading(path, laid)
    sweep(laid, path)
    assert reported(path, laid).equals(expected)


def test_the_study_is_written_anew(path, caplog, laid):
    expected = sweep(laid, path).to_table()
    executed(path, "UPDATE study SET document = replace(document, '4', '5')")
    with pytest.raises(StudyError, match="table study, row '1': is damaged"):
        reported(path, laid)
    sweep(laid, path)
    assert reported(path, laid).equals(expected)
    assert warnings(caplog) == [f"warning: {path}: is damaged: 1 row of study; what was there is computed anew"]


def test_a_run_that_is_lost_keeps_its_number(path, laid):
    sweep(laid, path)
    executed(path, "UPDATE runs SET document = replace(document, '1', '2')")
    with pytest.raises(StudyError, match="table runs, row '1': is damaged"):
        reported(path, laid)
    sweep(laid, path)
    with Store(path) as store:
        (lost,) = store.runs()  # nothing was lacking, and no run has begun
        assert store.begin(laid, (), {}) == 2
    assert lost == {"lost": "its row was damaged"}
    assert executed(path, "SELECT DISTINCT run FROM results") == [(1,)]


def test_a_part_that_is_damaged_is_computed_anew_and_that_alone(path, caplog, monkeypatch, in_parts):
    expected = sweep(in_parts, path).to_table()
    ((_, document),) = executed(path, "SELECT part, document FROM parts WHERE part LIKE '% 4 6'")
    changed = document[:100] + bytes([document[100] ^ 1]) + document[101:]
    executed(path, "UPDATE parts SET document = ? WHERE part LIKE '% 4 6'", changed)
    with pytest.raises(StudyError, match=r"table parts, row '.* 4 6': is damaged"):
        reported(path, in_parts)
    computing = []
    usual = ClosedFormTimes.compute
    monkeypatch.setattr(ClosedFormTimes, "compute", lambda *given: computing.append(given[1:]) or usual(*given))
    assert sweep(in_parts, path).to_table().equals(expected)
    assert computing == [(4, 6)]
    assert warnings(caplog) == [f"warning: {path}: is damaged: 1 row of parts; what was there is computed anew"]


def test_nothing_reads_the_table_of_points(path, laid):
    expected = sweep(laid, path).to_table()
    executed(path, "UPDATE points SET number = 7, parameters = 'none', excluded = 'no'")
    assert reported(path, laid).equals(expected)


@pytest.mark.parametrize(
    "document",
    [
        {"cycles": NAN},
        {"cycles": "12"},
        {"cycles": True},
        {"cycles": np.int64(12)},  # which JSON would have as a word
        {"cycles": 1, "terms": {"memory": NAN}},
        {"cycles": 1, "terms": {"memory": None}},
        {"cycles": 1, "terms": [1]},
        {"cycles": 1, "bound": 3},
        {"cycles": 1, "symbols": {"T": NAN}},
    ],
)
def test_what_is_no_number_is_a_failure(path, document, laid):
    with Store(path) as store:
        run = store.begin(laid, points_of(laid), {})
        store.put(
            "key", {"tmm": document, "pram": {"cycles": np.float64(2), "source": "NaN", "seconds": None}}, {}, run
        )
        assert store.results() == {"key": {"pram": {"cycles": 2, "source": "NaN", "seconds": None}}}
        assert store.failures() == {"key": {"tmm": "its result is not a number"}}


# Stores of schema 1


def test_a_store_without_checksums_is_brought_forward_and_loses_nothing(path, monkeypatch, laid):
    expected = sweep(laid, path).to_table()
    rows = {table: executed(path, f"SELECT * FROM {table}") for table in (*schema.COLUMNS, "points")}
    brought_back(path)
    Store(path).close()
    assert executed(path, "PRAGMA user_version") == [(2,)]
    assert {table: executed(path, f"SELECT * FROM {table}") for table in rows} == rows  # to the checksums
    monkeypatch.setattr(tasks, "Task", None)
    assert sweep(laid, path).to_table().equals(expected)


@pytest.mark.parametrize(
    "document", ["{}", "[1]", "{", '{"cycles": NaN, "bound": "span", "terms": {}}', '{"cycles": 1, "bound": "span"}']
)
def test_a_document_without_checksum_that_is_no_result_is_damaged(path, document, laid):
    expected = sweep(laid, path).to_table()
    brought_back(path)
    executed(path, "UPDATE results SET document = ? WHERE quantity = 'tmm'", document)
    with pytest.raises(StudyError, match=r"table results, row '\w+ tmm': is damaged"):
        reported(path, laid)
    assert sweep(laid, path).to_table().equals(expected)


def test_a_part_without_checksum_that_is_none_is_damaged(path, in_parts):
    expected = sweep(in_parts, path).to_table()
    brought_back(path)
    executed(path, "UPDATE parts SET document = x'00' WHERE part LIKE '% 4 6'")
    with pytest.raises(StudyError, match=r"table parts, row '.* 4 6': is damaged"):
        reported(path, in_parts)
    assert sweep(in_parts, path).to_table().equals(expected)


def test_a_store_is_brought_forward_whole_or_not_at_all(path, monkeypatch, laid):
    expected = sweep(laid, path).to_table()
    brought_back(path)
    before = executed(path, "SELECT sql FROM sqlite_master")

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(schema, "is_result", stop)
        with pytest.raises(KeyboardInterrupt):
            Store(path)
    assert executed(path, "SELECT sql FROM sqlite_master") == before
    assert executed(path, "PRAGMA user_version") == [(1,)]
    assert reported(path, laid).equals(expected)


# Where nothing can be written


@pytest.fixture
def anywhere():
    """A folder that anybody may look into."""
    with tempfile.TemporaryDirectory(prefix="simtmm-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize("state", ["as it is", "of schema 1", "with the log of a killed process"])
def test_a_store_is_reported_from_where_nothing_can_be_written(path, anywhere, state, laid):
    expected = sweep(laid, path).to_table()
    if state == "of schema 1":
        brought_back(path)
    if state == "with the log of a killed process":
        with Store(path) as store:
            store.put("key", {"tmm": {"cycles": 1}}, {}, 1)
            shutil.copyfile(f"{path}-wal", anywhere / "s.sqlite-wal")
            shutil.copyfile(path, anywhere / "s.sqlite")
    else:
        shutil.copyfile(path, anywhere / "s.sqlite")
    before = {path.name: path.read_bytes() for path in anywhere.iterdir()}
    with nothing_may_be_written(anywhere):
        assert reported(anywhere / "s.sqlite", laid).equals(expected)
        with Store(anywhere / "s.sqlite", make=False) as store:
            assert ("key" in store.results()) == (len(before) == 2)
        with pytest.raises(StudyError, match=r"s\.sqlite: can't be (opened|read or written) "):
            Store(anywhere / "s.sqlite")
    assert {path.name: path.read_bytes() for path in anywhere.iterdir()} == before


def test_an_empty_file_is_not_made_a_store_by_reading_it(path):
    path.touch()
    with pytest.raises(StudyError, match="is not a study's store"):
        Store(path, make=False)
    assert path.read_bytes() == b""
