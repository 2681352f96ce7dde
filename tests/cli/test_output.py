"""Standard output: what can't be written there is told, in one line."""

import os
import subprocess
import sys

import pytest

REFUSED = "simtmm: error: standard output: can't be written ({})\n"


def ended(words, redirected):
    """Exit status and standard error of the command in a shell, its standard streams redirected so."""
    command = f"{sys.executable} -m simtmm {words} {redirected}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("words", ["machines gtx280 --json", "--help"])
def test_a_full_device_is_reported(words):
    assert ended(words, "> /dev/full") == (2, REFUSED.format("No space left on device"))


@pytest.mark.parametrize("closed", [">&-", "<&- >&-"])
@pytest.mark.parametrize("words", ["machines gtx280 --json", "run vector-add --as written --param n=300"])
def test_an_output_that_is_closed_is_reported(words, closed):
    """Nor does what a recording opens take its place, in which its process would find something else."""
    status, said = ended(words, closed)
    assert (status, said.splitlines()[-1:]) == (2, [REFUSED.format("Bad file descriptor").rstrip()])


def test_where_nobody_can_be_reported_the_status_is_the_same():
    assert ended("machines no-such-machine", "2>&-") == (2, "")


def test_a_reader_that_has_gone_ends_it_without_a_word():
    assert ended("machines gtx280", "| true") == (0, "")
