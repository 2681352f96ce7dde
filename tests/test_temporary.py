"""Temporary files and folders: whose they are, and what goes with whom."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from simtmm import temporary
from simtmm.files import written_whole
from simtmm.temporary import part_file, remove_own, remove_parts


def test_what_ended_processes_left_behind_is_removed_and_what_is_made_stays(tmp_path):
    script = "import sys, pathlib, simtmm.temporary as t; print(t.part_file(pathlib.Path(sys.argv[1])))"
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    left = Path(done.stdout.strip())
    own, other = part_file(tmp_path), tmp_path / ".simtmm-00000000-1-abc.part"
    other.touch()  # of a process on another computer
    remove_parts(tmp_path, age=3600)
    assert (left.exists(), own.exists(), other.exists()) == (False, True, True)
    os.utime(other, (0, 0))
    remove_parts(tmp_path, age=3600)
    assert (own.exists(), other.exists()) == (True, False)


def test_what_a_living_process_makes_stays_whatever_the_clock_says(tmp_path):
    own = part_file(tmp_path)
    for moment in (0, 2**33):
        os.utime(own, (moment, moment))
        remove_parts(tmp_path, age=3600)
        assert own.exists()


def test_the_age_of_what_others_make_is_by_the_clock_of_the_folders_computer(tmp_path, monkeypatch):
    other = tmp_path / ".simtmm-00000000-1-abc.part"
    other.touch()
    for moment in (0.0, 2.0**33):
        monkeypatch.setattr("time.time", lambda moment=moment: moment)
        remove_parts(tmp_path, age=3600)
        assert other.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="is told by /proc")
def test_a_process_that_has_ended_owns_nothing_though_nobody_has_asked_how(tmp_path):
    """Its number is taken until then: by one that is killed, say, whose parent takes its time."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    left = tmp_path / f".simtmm-{temporary._computer()}-{ended.pid}-abc.part"
    left.touch()
    remove_parts(tmp_path)
    assert not left.exists()
    ended.wait()


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """The folder of temporary files, not looked through yet."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    temporary._remove_left_once.cache_clear()
    yield tmp_path
    temporary._remove_left_once.cache_clear()


def test_what_a_killed_process_left_is_removed_and_what_lives_is_not(scratch):
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    computer = temporary._computer()
    left = [
        scratch / f"simtmm-trace-{computer}-{ended.pid}-abc",
        scratch / f"simtmm-simtmm.fast.steps.loop-18cb-{computer}-{ended.pid}-abc",  # of a cache that can't be had
    ]
    kept = [
        scratch / f"simtmm-trace-{computer}-{os.getpid()}-abc",
        scratch / f"simtmm-trace-00000000-{ended.pid}-abc",  # another computer's
        scratch / f"simtmm-trace-{computer}-{ended.pid}-a-b",  # somebody's own
        scratch / "simtmm-trace-mine",
    ]
    for folder in (*left, *kept):
        folder.mkdir()
        (folder / "file").touch()
    assert temporary.own_prefix("store") == f"simtmm-store-{computer}-{os.getpid()}-"
    assert sorted(scratch.iterdir()) == sorted(kept)


def test_a_link_that_is_called_like_what_was_left_is_not_followed(scratch, tmp_path_factory):
    mine = tmp_path_factory.mktemp("mine")
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    (scratch / f"simtmm-trace-{temporary._computer()}-{ended.pid}-abc").symlink_to(mine)
    temporary.own_prefix("store")
    assert mine.is_dir()


def test_what_this_process_makes_goes_where_it_ends_in_the_middle_of_its_work(scratch):
    part = part_file(scratch)
    other = scratch / f".simtmm-{temporary._computer()}-1-abc.part"  # of a process that lives
    other.touch()
    (scratch / f"{temporary.own_prefix('trace')}abc").mkdir()
    remove_own()
    assert list(scratch.iterdir()) == [other]
    assert not part.exists()


def test_who_writes_somewhere_removes_what_a_killed_process_left_there(tmp_path):
    script = (
        "import os, sys; from simtmm.files import written_whole\n"
        "with written_whole(sys.argv[1]) as part: part.write_text('half'); print(part, flush=True); sys.stdin.read()"
    )
    words = [sys.executable, "-c", script, str(tmp_path / "result.json")]
    with (
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as killed,
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as alive,
    ):
        left, kept = (Path(each.stdout.readline().strip()) for each in (killed, alive))
        killed.kill()
        killed.wait()
        assert left.exists()
        with written_whole(tmp_path / "other.json") as part:
            part.write_text("{}")
        assert sorted(tmp_path.iterdir()) == sorted([kept, tmp_path / "other.json"])
        alive.stdin.close()
