"""The cache: a folder of one's own, and files that are what they were when they were kept."""

import logging
import os
import stat

import pytest

from simtmm import cache
from simtmm.errors import OutputError


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Where the cache is to lie; not there yet."""
    folder = tmp_path / "home" / "cache"
    monkeypatch.setenv("SIMTMM_CACHE", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return folder


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def kept(folder, text="content", key="key"):
    return cache.keep(folder, "label", key, ".txt", lambda path: path.write_text(text))


def found(folder, key="key"):
    return cache.find(folder, "label", key, ".txt")


def test_a_new_cache_is_for_the_user_alone(root):
    folder = cache.own_folder("builds")
    assert folder == root / "builds"
    assert mode(root) == mode(folder) == 0o700


def test_a_folder_that_others_may_read_is_closed_to_them(root):
    (root / "builds").mkdir(parents=True, mode=0o755)
    assert cache.own_folder("builds") == root / "builds"
    assert mode(root / "builds") == 0o700
    assert mode(root) == 0o755  # which may hold other things


@pytest.mark.parametrize("place", ["root", "folder"])
def test_a_folder_that_others_may_write_to_is_not_used_and_said_so(root, caplog, tmp_path, place):
    (root / "builds").mkdir(parents=True)
    (root if place == "root" else root / "builds").chmod(0o777)
    with caplog.at_level(logging.WARNING, "simtmm"):
        folder = cache.own_folder("builds")
    assert folder.parent == tmp_path
    assert mode(folder) == 0o700
    assert "can be written by others (mode 777): it is not used" in caplog.text


def test_a_folder_of_another_user_is_not_used(root, caplog, monkeypatch):
    (root / "builds").mkdir(parents=True, mode=0o700)
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert cache.own_folder("builds") != root / "builds"
    assert "belongs to another user" in caplog.text


def test_a_link_in_the_place_of_the_folder_is_not_followed(root, tmp_path):
    root.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (root / "builds").symlink_to(tmp_path / "elsewhere")
    assert cache.own_folder("builds") != root / "builds"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_what_is_kept_is_found_by_its_key_alone(root):
    folder = cache.own_folder("builds")
    path = kept(folder)
    assert found(folder) == path
    assert path.read_text() == "content"
    assert found(folder, "other") is None
    assert [entry.name for entry in folder.iterdir()] == [path.name]


@pytest.mark.parametrize("change", ["", "other text", "conten\0"])
def test_a_file_that_was_changed_is_not_taken_and_built_anew(root, change):
    folder = cache.own_folder("builds")
    path = kept(folder)
    path.write_text(change)
    assert found(folder) is None
    assert not path.exists()
    assert kept(folder).read_text() == "content"


def test_a_file_that_was_put_in_the_place_of_another_is_not_taken(root):
    folder = cache.own_folder("builds")
    one, other = kept(folder, "one", "1"), kept(folder, "other", "2")
    other.replace(one)
    assert found(folder, "1") is None


def test_a_link_is_not_taken_for_a_file(root, tmp_path):
    folder = cache.own_folder("builds")
    path = kept(folder)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert found(folder) is None
    assert (tmp_path / "elsewhere").exists()


def test_what_fails_leaves_nothing(root):
    folder = cache.own_folder("builds")

    def fails(path):
        path.write_text("half")
        raise OutputError("no")

    with pytest.raises(OutputError, match="no"):
        cache.keep(folder, "label", "key", ".txt", fails)
    assert list(folder.iterdir()) == []


def refused(path):
    raise OSError(28, "No space left on device")


def test_where_nothing_can_be_written_it_is_kept_for_this_process_alone(root, caplog, tmp_path):
    folder = cache.own_folder("builds")

    def make(path):
        return refused(path) if path.parent == folder else path.write_text("content")

    with caplog.at_level(logging.WARNING, "simtmm"):
        path = cache.keep(folder, "label", "key", ".txt", make)
    assert path.read_text() == "content"
    assert path.parent.parent == tmp_path
    assert "cache folder" in caplog.text
    assert "No space left on device): its contents will be built again each time" in caplog.text


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path, caplog, monkeypatch):
    """It was compiled anew each time, and said to be kept."""
    monkeypatch.setattr(cache, "_TEMPORARY", set())
    assert cache.outlasts()
    (tmp_path / "file").write_text("")
    with caplog.at_level(logging.WARNING, "simtmm"):
        folder = cache.own_folder("builds", tmp_path / "file")
    assert folder.is_dir()
    assert "file/builds: can't be written (Not a directory): its contents will be built again" in caplog.text
    assert not cache.outlasts()


def test_where_no_disk_has_room_that_is_reported(root):
    with pytest.raises(OutputError, match=r"can't be written \(No space left on device\)"):
        cache.keep(cache.own_folder("builds"), "label", "key", ".txt", refused)


def test_files_used_least_recently_go_where_a_folder_takes_too_much_room(root, monkeypatch):
    monkeypatch.setattr(cache, "LOOKED_AT", "")  # at each new file
    folder = cache.own_folder("builds")
    paths = {}
    for number, key in enumerate("abc"):
        paths[key] = cache.keep(folder, "label", key, ".txt", lambda path: path.write_text("x" * 40), most=None)
        os.utime(paths[key], (number, number))
    assert found(folder, "a") == paths["a"]  # used now, so that b is the oldest
    paths["d"] = cache.keep(folder, "label", "d", ".txt", lambda path: path.write_text("y" * 40), most=120)
    assert [key for key in "abcd" if paths[key].exists()] == ["a", "c", "d"]
    paths["e"] = cache.keep(folder, "label", "e", ".txt", lambda path: path.write_text("z" * 400), most=120)
    assert [key for key in "abcde" if paths[key].exists()] == ["e"]  # that one stays, however large


def test_room_is_looked_at_for_one_new_file_in_16(root):
    folder = cache.own_folder("builds")
    first = cache.keep(folder, "label", "first", ".txt", lambda path: path.write_text("first"), most=None)
    names = [
        cache.keep(folder, "label", f"k{number}", ".txt", lambda path, text=number: path.write_text(str(text)), most=0)
        for number in range(40)
    ]
    looked = [number for number, path in enumerate(names) if path.name.split("-")[-1].startswith("0")]
    assert looked
    assert not first.exists()
    assert [path.exists() for path in names] == [number >= looked[-1] for number in range(40)]
