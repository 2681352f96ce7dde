"""Where data lies, and files that are written whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

import simtmm
from simtmm import files
from simtmm.cuda.compilers.load import load_module
from simtmm.errors import OutputError, SimtmmError
from simtmm.files import (
    cache_folder,
    check_regular,
    check_writable,
    data_file,
    data_folders,
    given_folders,
    is_file,
    is_folder,
    is_there,
    shipped_folders,
    written_whole,
)
from simtmm.programs.building.main_function import has_main
from simtmm.trace.io import load_trace

CHECKOUT = Path(simtmm.__file__).resolve().parents[1]


# data_folders


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A working directory and two folders in SIMTMM_PATH, each with machines."""
    for name in ("first", "second", "work"):
        (tmp_path / name / "machines").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("SIMTMM_PATH", os.pathsep.join([str(tmp_path / "first"), str(tmp_path / "second")]))
    return tmp_path


def test_the_users_paths_come_first_then_the_working_directory_then_the_checkout(folders):
    found = data_folders("machines")
    assert found[:3] == [folders / name / "machines" for name in ("first", "second", "work")]
    if (CHECKOUT / "pyproject.toml").is_file():
        assert found[3] == CHECKOUT / "machines"


def test_folders_without_the_kind_are_left_out(folders):
    assert not [folder for folder in data_folders("traces") if folder.is_relative_to(folders)]


def test_nothing_has_a_kind_that_does_not_exist(folders):
    assert data_folders("no-such-kind") == []


def test_a_folder_named_twice_is_looked_at_once(folders, monkeypatch):
    monkeypatch.setenv("SIMTMM_PATH", os.pathsep.join([str(folders / "work"), str(folders / "first" / ".." / "work")]))
    found = data_folders("machines")
    assert found.count(folders / "work" / "machines") == 1


def test_empty_entries_of_the_path_mean_nothing(folders, monkeypatch):
    monkeypatch.setenv("SIMTMM_PATH", os.pathsep.join(["", str(folders / "second"), ""]))
    assert data_folders("machines")[:2] == [folders / "second" / "machines", folders / "work" / "machines"]


def test_a_tilde_in_the_path_is_the_home_folder(folders, monkeypatch):
    monkeypatch.setenv("HOME", str(folders))
    monkeypatch.setenv("SIMTMM_PATH", "~/second")
    assert data_folders("machines")[0] == folders / "second" / "machines"


def test_what_the_user_gave_and_what_is_shipped_have_nothing_of_the_working_directory(folders):
    assert given_folders("machines") == [folders / "first" / "machines", folders / "second" / "machines"]
    assert folders / "work" / "machines" not in shipped_folders("machines")
    assert shipped_folders("kernels")


def test_only_kernels_have_a_path_of_their_own(folders, monkeypatch):
    monkeypatch.setenv("SIMTMM_KERNEL_PATH", str(folders / "work"))
    monkeypatch.delenv("SIMTMM_PATH")
    assert given_folders("kernels") == [folders / "work"]
    assert given_folders("machines") == []


def test_a_file_that_ships_is_not_taken_from_the_working_directory(folders):
    (folders / "work" / "traces").mkdir()
    (folders / "work" / "traces" / "list-ranking-wyllie.parquet").touch()
    found = data_file("traces", "list-ranking-wyllie.parquet")
    assert found is not None
    assert not found.is_relative_to(folders)


def test_a_file_that_ships_may_be_the_users_where_a_folder_is_given(folders):
    (folders / "second" / "machines" / "own.toml").touch()
    assert data_file("machines", "own.toml") == folders / "second" / "machines" / "own.toml"
    assert data_file("machines", "none.toml") is None


@pytest.mark.parametrize("variable", ["SIMTMM_PATH", "SIMTMM_MACHINE_PATH"])
def test_a_folder_that_the_path_names_and_that_is_not_there_is_told_once(folders, monkeypatch, caplog, variable):
    monkeypatch.setenv(variable, os.pathsep.join([f"gone-{variable}", str(folders / "second")]))
    for _ in range(2):
        given_folders("machines")
    line = f"warning: {variable}: gone-{variable}: no such folder; skipped"
    assert [record.getMessage() for record in caplog.records] == [line]


@pytest.mark.parametrize("entry", ["x" * 5000, "loop"])
def test_an_entry_of_the_path_that_can_be_no_folder_means_nothing(folders, monkeypatch, entry):
    (folders / "work" / "loop").symlink_to("loop")
    monkeypatch.setenv("SIMTMM_PATH", entry)
    assert given_folders("machines") == []


def test_a_home_that_nobody_knows_is_no_folder(folders, monkeypatch):
    """Of ~nobody, or of a user without an entry and without HOME, as in containers."""
    monkeypatch.setenv("SIMTMM_PATH", "~nouser" + os.pathsep + str(folders / "second"))
    assert given_folders("machines") == [folders / "second" / "machines"]
    for name in ("HOME", "XDG_CACHE_HOME", "SIMTMM_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    assert cache_folder().is_relative_to(os.devnull)


# written_whole


def write(path, text, then=None):
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
        if then is not None:
            raise then


def test_a_file_appears_at_the_end_and_no_temporary_stays(tmp_path):
    path = tmp_path / "result.json"
    with written_whole(path) as temporary:
        temporary.write_text("new", encoding="utf-8")
        assert not path.exists()
        assert temporary.parent == tmp_path
    assert path.read_text(encoding="utf-8") == "new"
    assert os.listdir(tmp_path) == ["result.json"]


def test_the_path_may_be_a_text_without_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("result.json", "new")
    assert os.listdir(tmp_path) == ["result.json"]


def test_until_the_end_a_reader_sees_the_old_file(tmp_path):
    path = tmp_path / "result.json"
    path.write_text("old", encoding="utf-8")
    with written_whole(path) as temporary:
        temporary.write_text("new", encoding="utf-8")
        assert path.read_text(encoding="utf-8") == "old"
    assert path.read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("error", [ValueError("bug"), KeyboardInterrupt()], ids=repr)
def test_after_an_exception_the_old_file_is_there_and_no_temporary(tmp_path, error):
    path = tmp_path / "result.json"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(type(error)):
        write(path, "half", error)
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["result.json"]


def test_after_an_exception_no_file_is_there_if_none_was(tmp_path):
    with pytest.raises(ValueError, match="bug"):
        write(tmp_path / "result.json", "half", ValueError("bug"))
    assert os.listdir(tmp_path) == []


def test_a_disk_that_is_full_is_the_users_to_mend(tmp_path):
    path = tmp_path / "result.json"
    with pytest.raises(OutputError) as caught:
        write(path, "half", OSError(28, "No space left on device"))
    assert str(caught.value) == f"{path}: can't be written (No space left on device)"
    assert os.listdir(tmp_path) == []


def test_a_missing_folder_is_refused_before_anything_is_done(tmp_path):
    path = tmp_path / "missing" / "result.json"
    with pytest.raises(OutputError) as caught, written_whole(path):
        pytest.fail("the body must not run")
    assert str(caught.value) == f"{path}: can't be written (No such file or directory)"
    assert os.listdir(tmp_path) == []


def test_a_folder_is_not_written_over(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(OutputError) as caught:
        write(path, "new")
    assert str(caught.value) == f"{path}: can't be written (Is a directory)"
    assert os.listdir(tmp_path) == ["folder"]


def test_what_can_not_be_written_is_known_before_the_work(tmp_path):
    (tmp_path / "folder").mkdir()
    for name in ("missing/result.json", "folder"):
        with pytest.raises(OutputError, match=f"^{tmp_path / name}: can't be written "):
            check_writable(tmp_path / name)
    check_writable(tmp_path / "result.json")
    assert os.listdir(tmp_path) == ["folder"]


def test_a_file_in_the_working_directory_can_be_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_writable("result.json")


def test_a_working_directory_that_was_removed_is_named_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(OutputError, match=r"x\.parquet: can't be written \(the working directory was removed\)"):
        check_writable("x.parquet")
    with pytest.raises(OutputError, match="the working directory was removed"), written_whole("x.parquet"):
        raise AssertionError
    check_writable(tmp_path / "x.parquet")


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_permissions_are_what_the_umask_gives_any_file(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write(tmp_path / "result.json", "new")
        after = os.umask(mask)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "result.json").stat().st_mode) == mode
    assert after == mask  # the umask is as it was


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # so that a writer does not wait
    try:
        write(path, "new")
        assert stat.S_ISFIFO(path.stat().st_mode)
    finally:
        os.close(reader)


# cache_folder


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"SIMTMM_CACHE": "/c", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/c"),
        ({"SIMTMM_CACHE": "~/c", "HOME": "/h"}, "/h/c"),
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/simtmm"),
        ({"SIMTMM_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "/h"}, "/h/.cache/simtmm"),
        ({"HOME": "/h"}, "/h/.cache/simtmm"),
    ],
)
def test_the_cache_is_where_the_environment_says_else_under_home(monkeypatch, environment, folder):
    for name in ("SIMTMM_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(folder)


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "x" * 5000 + "/y"])
def test_what_can_not_be_a_path_is_none(tmp_path, name):
    assert (is_file(tmp_path / name), is_folder(tmp_path / name), is_there(tmp_path / name)) == (False, False, False)
    with pytest.raises(OutputError, match="can't be written"):
        check_writable(tmp_path / name / "z")
    with pytest.raises(OutputError, match="can't be written"), written_whole(tmp_path / name / "z"):
        pass


def test_words_that_are_no_unicode_are_written_by_their_bytes(tmp_path):
    files.write_text(tmp_path / "t", "a\udcffb")
    assert (tmp_path / "t").read_text() == "a\\udcffb"


def test_what_would_be_waited_for_is_refused_where_a_file_is_needed(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    for path in (tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(OutputError, match=f"^{path}: is a pipe or a device: must be a file$"):
            check_regular(path, OutputError)
    for path in (tmp_path / "file", tmp_path, tmp_path / "missing"):
        check_regular(path, OutputError)
    for read, suffix in ((load_trace, ".parquet"), (load_module, ".ptx"), (has_main, ".cu")):
        os.mkfifo(tmp_path / f"pipe{suffix}")
        with pytest.raises(SimtmmError, match="is a pipe or a device"):
            read(tmp_path / f"pipe{suffix}")
