"""A process for one command does what is to be done at its end, and no more."""

import subprocess
import sys

import pytest

PROGRAM = """
import atexit, gc, os, sys
from simtmm.children import brief

class Told:
    def __del__(self):
        os.write(1, b"taken apart\\n")

brief.for_one_command()
atexit.register(print, "done at exit")
kept = Told()
kept.itself = kept  # which Python takes apart at its end
print(gc.get_threshold()[0])
if len(sys.argv) > 1:
    brief.ends_with(int(sys.argv[1]))
    sys.exit(int(sys.argv[1]))
"""


def ended(*words, status, **options):
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, **options)
    assert (done.returncode, done.stderr) == (status, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize("status", [0, 3])
def test_what_is_to_be_done_at_exit_is_done_and_the_status_stands_and_nothing_is_taken_apart(status):
    assert ended("-c", PROGRAM, str(status), status=status) == ["200000", "done at exit"]


@pytest.mark.parametrize("words", [["-c", PROGRAM], ["-X", "dev", "-c", PROGRAM, "3"]])
def test_a_process_that_is_not_told_to_be_over_or_is_looked_at_ends_as_any_other(words):
    status = 3 if "dev" in words else 0
    assert ended(*words, status=status) == ["200000", "done at exit", "taken apart"]


def test_output_that_is_closed_ends_the_process_as_any_other():
    closed = PROGRAM.replace("if len", "sys.stdout.close()\nif len").replace(
        'atexit.register(print, "done at exit")', ""
    )
    assert ended("-c", closed, "3", status=3) == ["200000", "taken apart"]


def test_after_a_while_it_looks_for_garbage_as_often_as_others_and_not_through_what_was_imported():
    program = """
import gc
from simtmm.children import brief

class Timer:
    def __init__(self, seconds, then):
        print(seconds)
        self.start = lambda: print(gc.get_threshold()[0]) or then()

brief.threading.Timer = Timer
usual = gc.get_threshold()
brief.for_one_command()
print(gc.get_threshold() == usual, gc.get_freeze_count() > 1000)
"""
    assert ended("-c", program, status=0) == ["2.0", "200000", "True True"]
