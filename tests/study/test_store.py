"""The store: what is put in is there again, and what is no store is refused."""

import sqlite3
from dataclasses import replace

import pytest

from simtmm.errors import StudyError
from simtmm.study.design.design import design_of
from simtmm.study.design.points import points_of
from simtmm.study.design.study_file import study_of
from simtmm.study.store.file import StoreFile
from simtmm.study.store.store import Store
from simtmm.study.sweep import read, sweep
from tests.study.programs import designed, write
from tests.study.stores import brought_back, executed


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write(tmp_path_factory.mktemp("store"))


@pytest.fixture
def made(folder):
    return designed(folder, axes={"memory.latency": [100, 200]})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.sqlite"


def test_what_is_put_in_is_there_when_it_is_opened_again(path, made):
    document = {"cycles": 0.1 + 0.2, "bound": "memory", "terms": {"z": 1.5, "a": float("inf")}, "time": None}
    with Store(path) as store:
        run = store.begin(made, points_of(made), {"command": "one"})
        store.put("key", {"tmm": document}, {"rehman": "no"}, run, 1.5)
        store.skip("other", "does not fit", run)
    with Store(path) as store:
        found = store.results()
        assert found == {"key": {"tmm": document}}
        assert list(found["key"]["tmm"]["terms"]) == ["z", "a"]  # in the model's order
        assert store.finished() == {"key": {"tmm"}}
        assert store.failures() == {"key": {"rehman": "no"}}
        assert store.skipped() == {"other": "does not fit"}
        assert store.runs() == [{"command": "one"}]
        assert store.study()["axes"] == {"memory.latency": [100, 200]}


def test_the_study_in_a_store_means_the_same_wherever_it_is_read(path, made, monkeypatch, tmp_path):
    with Store(path) as store:
        store.begin(made, points_of(made), {})
        document = store.study()
    monkeypatch.chdir(tmp_path)
    assert [point.key for point in points_of(design_of(study_of(document)))] == [point.key for point in points_of(made)]


def test_the_store_is_in_write_ahead_mode(path):
    with Store(path):
        database = sqlite3.connect(path)
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        database.close()


def test_axes_are_columns_of_their_own(path, made, folder):
    with Store(path) as store:
        store.begin(made, points_of(made), {})
        other = designed(folder, axes={"memory.latency": [300], "cores.groups": [1, 2]})
        store.begin(other, points_of(other), {})
    database = sqlite3.connect(path)
    rows = database.execute('SELECT "memory.latency", "cores.groups" FROM points ORDER BY 1, 2').fetchall()
    database.close()
    assert rows == [(100, None), (200, None), (300, 1), (300, 2)]


def test_a_column_that_sqlite_might_take_for_another_is_marked_as_an_axis(path):
    tables = {"program": "apsp-johnson-array", "kind": "algorithm", "parameters": {"m": 256}}
    found = design_of(study_of({**tables, "axes": {"n": [64, 128], "T": [1, 2]}}))
    with Store(path) as store:
        store.begin(found, points_of(found), {})
        names = {row[1] for row in store._database.execute("PRAGMA table_info(points)")}
    assert {"n", "axis_T"} <= names


def test_success_takes_the_failure_away(path, made):
    with Store(path) as store:
        run = store.begin(made, points_of(made), {})
        store.put("key", {}, {"tmm": "no"}, run)
        store.put("key", {"tmm": {"cycles": 1}}, {}, run)
        assert store.failures() == {}


def test_a_point_is_put_in_whole_or_not_at_all(path, made):
    class Unspeakable:
        def __str__(self):
            raise RuntimeError

    with Store(path) as store:
        run = store.begin(made, points_of(made), {})
        with pytest.raises(RuntimeError):
            store.put("key", {"tmm": {"cycles": 1}, "pram": {"cycles": Unspeakable()}}, {}, run)
        assert store.results() == {}
        store.put("key", {"tmm": {"cycles": 1}}, {}, run)  # and the store can be written to as before
        assert store.finished() == {"key": {"tmm"}}


def test_two_may_write_to_one_store(path, made):
    with Store(path) as one, Store(path) as other:
        run = one.begin(made, points_of(made), {})
        assert other.begin(made, points_of(made), {}) == run + 1
        one.put("a", {"tmm": {"cycles": 1}}, {}, run)
        other.put("b", {"tmm": {"cycles": 2}}, {}, run)
        assert set(one.results()) == set(other.results()) == {"a", "b"}


def test_another_programs_database_is_left_alone(path):
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE mine (x)")
    database.commit()
    database.close()
    before = path.read_bytes()
    with pytest.raises(StudyError, match="is a database, but not a study's store"):
        Store(path)
    assert path.read_bytes() == before


def test_another_file_is_left_alone(path):
    path.write_text("no database, but longer than the header of one\n" * 20, encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(StudyError, match="is not a study's store"):
        Store(path)
    assert path.read_bytes() == before


def test_a_store_of_another_schema_is_refused(path):
    Store(path).close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(StudyError, match="has schema 99"):
        Store(path)


def test_a_store_that_is_only_to_be_read_must_be_there(path):
    with pytest.raises(StudyError, match="no such store"):
        Store(path, make=False)
    assert not path.exists()


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StudyError, match=r"none/s\.sqlite: can't be opened"):
        Store(tmp_path / "none" / "s.sqlite")


def test_a_store_that_is_damaged_within_is_told(path, made):
    with Store(path) as store:
        run = store.begin(made, points_of(made), {})
        for number in range(200):
            store.put(f"key {number}", {"tmm": {"cycles": number, "of": "x" * 500}}, {}, run)
    content = bytearray(path.read_bytes())
    content[8 * 4096 :] = b"\x55" * (len(content) - 8 * 4096)
    path.write_bytes(content)
    with Store(path) as store, pytest.raises(StudyError, match=r"s\.sqlite: can't be read or written \(.*malformed"):
        store.results()


def test_a_disk_that_is_full_is_told_and_what_was_there_stays(path, made):
    with Store(path) as store:
        run = store.begin(made, points_of(made), {})
        store.put("one", {"tmm": {"cycles": 1}}, {}, run)
        (pages,) = store._database.execute("PRAGMA page_count").fetchone()
        store._database.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StudyError, match=r"s\.sqlite: can't be read or written \(database or disk is full"):
            store.put("two", {"tmm": {"cycles": 2, "of": "x" * 100_000}}, {}, run)
    with Store(path) as store:
        assert store.results() == {"one": {"tmm": {"cycles": 1}}}


def test_a_part_is_there_when_it_is_opened_again(path, made):
    with Store(path) as store:
        store.put_part("key 0 10", b"bytes", 0.5, store.begin(made, points_of(made), {}))
    with Store(path) as store:
        assert (store.parts(), store.part("key 0 10"), store.part("other")) == ({"key 0 10"}, b"bytes", None)


def test_a_store_of_before_there_were_parts_can_be_gone_on_with(path, made):
    with Store(path) as store:
        store.begin(made, points_of(made), {})
    brought_back(path)
    executed(path, "DROP TABLE parts")
    with Store(path) as store:
        assert store.parts() == set()
        assert len(store.runs()) == 1


@pytest.mark.parametrize("error", ["SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_READONLY_DIRECTORY"])
def test_a_disk_that_refuses_is_not_taken_for_another_file(path, monkeypatch, error):
    def refused(self, make):
        said = sqlite3.OperationalError("database or disk is full")
        said.sqlite_errorname = error
        raise said

    monkeypatch.setattr("simtmm.study.store.file.StoreFile._open", refused)
    with pytest.raises(StudyError, match=r"s\.sqlite: can't be read or written \(database or disk is full\)"):
        Store(path)


def test_a_new_store_for_which_the_disk_has_no_room_is_not_left_there(path, monkeypatch):
    def full(database):
        said = sqlite3.OperationalError("database or disk is full")
        said.sqlite_errorname = "SQLITE_FULL"
        raise said

    monkeypatch.setattr("simtmm.study.store.schema.make", full)
    with pytest.raises(StudyError, match="full"):
        Store(path)
    assert list(path.parent.iterdir()) == []


def _refused_with(path, made, *computed):
    """A run that ends with an error, after these were computed."""

    def computed_and_refused():
        with Store(path) as store:
            run = store.begin(made, points_of(made), {})
            for key in computed:
                store.put(key, {"tmm": {"cycles": 1}}, {}, run)
            raise StudyError("no")

    with pytest.raises(StudyError):
        computed_and_refused()


def test_a_new_store_in_which_nothing_was_computed_goes_with_the_error(path, made):
    _refused_with(path, made)
    assert list(path.parent.iterdir()) == []


def test_a_store_keeps_what_was_computed_before_the_error(path, made):
    _refused_with(path, made, "one")
    with Store(path, make=False) as store:
        assert set(store.results()) == {"one"}


def test_a_store_that_was_there_stays_whatever_the_error(path, made):
    with Store(path) as store:
        store.begin(made, points_of(made), {"command": "one"})
    _refused_with(path, made)
    with Store(path, make=False) as store:
        assert store.runs()[0] == {"command": "one"}


def test_a_new_store_that_another_process_has_opened_stays(path, made):
    other = None

    def opened_and_refused():
        nonlocal other
        with Store(path) as store:
            store.begin(made, points_of(made), {})
            other = Store(path)
            raise StudyError("no")

    with pytest.raises(StudyError):
        opened_and_refused()
    other.put("one", {"tmm": {"cycles": 1}}, {}, other.begin(made, points_of(made), {}))
    other.close()
    with Store(path, make=False) as store:
        assert set(store.results()) == {"one"}


def test_a_store_on_a_full_disk_can_be_read(path, made, monkeypatch):
    """SQLite makes files beside what it reads, too."""
    with Store(path) as store:
        run = store.begin(made, points_of(made), {"command": "one"})
        store.put("key", {"tmm": {"cycles": 3.0, "bound": "span", "terms": {}}}, {}, run)
    usual = StoreFile._open

    def full(self, make):
        if self._copy is None:
            said = sqlite3.OperationalError("disk I/O error")
            said.sqlite_errorname = "SQLITE_IOERR_SHMSIZE"
            raise said
        usual(self, make)

    monkeypatch.setattr(StoreFile, "_open", full)
    with Store(path, make=False) as store:
        assert store.results()["key"]["tmm"]["cycles"] == 3.0


def test_a_point_is_told_as_the_latest_run_computed_it_and_marked_so(tmp_path, monkeypatch):
    """Program and simtmm change in turn; each point's key is told again from what its run said of itself."""
    folder, path = write(tmp_path), tmp_path / "s.sqlite"
    few, more = (designed(folder, axes={"memory.latency": values}) for values in ([100], [100, 200]))
    first = sweep(more, path, workers=1)
    monkeypatch.setattr("simtmm.provenance.sources", lambda *parts: "edited")
    sweep(few, path, workers=1)
    with Store(path, make=False) as store:
        found = read(more, store)
    new, old = found.rows
    assert (new.computed_by, old.status, old.results) == ("", "done", first.rows[1].results)
    assert old.computed_by.startswith("run 1: simtmm")
    assert found.earlier.total() == 1
    other = replace(more, subject=replace(more.subject, digest="another program"))
    with Store(path, make=False) as store:
        both = read(other, store).rows
    assert [row.computed_by.split(":")[0] for row in both] == ["run 2", "run 1"]
    assert "program" in both[0].computed_by
    again = sweep(more, path, workers=1)
    assert not again.earlier
    assert [row.results for row in again.rows] == [row.results for row in first.rows]


def test_a_store_that_did_not_say_its_program_has_that_which_it_described(tmp_path, monkeypatch):
    """As stores of an older simtmm: a run has the sources alone."""
    forms, path = closed_forms(), tmp_path / "s.sqlite"
    with monkeypatch.context() as older:
        older.setattr("simtmm.study.evaluation.closed_forms.run_says", lambda design, store: {})
        expected = sweep(forms, path)
    monkeypatch.setattr("simtmm.provenance.sources", lambda *parts: "edited")
    with Store(path, make=False) as store:
        found = read(forms, store)
    assert found.cycles["tmm"].tolist() == expected.cycles["tmm"].tolist()
    assert found.earlier.total() == len(found)
    assert found.rows[0].results["tmm"]["cycles"] == expected.rows[0].cycles("tmm")


def closed_forms():
    return design_of(study_of({"program": "list-ranking", "axes": {"n": [1000, 10000]}, "parameters": {"T": 4}}))
