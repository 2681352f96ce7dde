"""Standard output: what can't be written there is told, in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from simtmm import record
from simtmm.errors import RecordingError

LATENCIES = Path(__file__).parents[2] / "traces" / "measured" / "latency_curves.csv"
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


OUTPUTS = {
    "out.json": ("run", "list-ranking-wyllie", "-m", "gtx480", "-o"),
    "timeline.json": ("run", "list-ranking-wyllie", "-m", "gtx480", "--timeline"),
    "timeline.json.gz": ("run", "list-ranking-wyllie", "-m", "gtx480", "--timeline"),
    "page.html": ("explain", "list-ranking-wyllie", "-m", "gtx480", "-o"),
    "rows.csv": ("explain", "list-ranking-wyllie", "-m", "gtx480", "-o"),
    "points.csv": ("sweep", "list-ranking", "--vary", "n=64,128", "-m", "gtx480", "--export"),
    "points.parquet": ("sweep", "list-ranking", "--vary", "n=64,128", "-m", "gtx480", "--export"),
    "machine.toml": ("calibrate", "--latency", str(LATENCIES), "--gpu", "v100", "-m", "v100", "-o"),
}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_for_which_there_is_no_room_is_an_error_of_one_line_and_leaves_nothing(
    called, tmp_path, tmp_path_factory, monkeypatch, name
):
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))  # where a sweep's store goes
    (tmp_path / name).symlink_to("/dev/full")
    status, _, told = called(*OUTPUTS[name], str(tmp_path / name))
    assert status == 2
    assert told.splitlines()[-1].startswith(f"simtmm: error: {tmp_path / name}: can't be written (")
    assert "No space left on device" in told.splitlines()[-1]
    assert "Traceback" not in told
    assert os.listdir(tmp_path) == [name]


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


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("record", "read.cu", "--grid", "1", "-o", "read.cu"), "-o read.cu"),
        (("run", "./read.cu", "-oread.cu"), "-o read.cu"),
        (("run", "stream", "-m", "read.cu", "--output=link.cu"), "--output link.cu"),
        (("report", "read.cu", "--output", "read.cu"), "--output read.cu"),
        (("run", "k.cu", "--grid", "1", "--arg", "x=read.cu", "-o", "read.cu"), "-o read.cu"),
        (("predict", "read.cu", "--picture", "p.svg", "-o", "../" + "here/read.cu"), "-o ../here/read.cu"),
        (("sweep", "stream", "--measured", "read.cu", "--export", "read.cu"), "--export read.cu"),
        (("machines", "new", "x", "--family", "read.cu", "-o", "read.cu"), "-o read.cu"),
    ],
)
def test_what_a_command_reads_is_not_written_over(called, tmp_path, monkeypatch, words, option):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "read.cu").write_text("what took days")
    (folder / "link.cu").symlink_to("read.cu")
    status, out, errors = called(*words)
    said = f"simtmm: error: {option}: is also the input and would be overwritten: name another file\n"
    assert (status, out, errors) == (2, "", said)
    assert (folder / "read.cu").read_text() == "what took days"


def test_a_program_may_name_what_is_written(called, tmp_path, monkeypatch):
    """Behind --, words are the program's own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out.json").touch()
    _, _, errors = called("run", "program.cu", "-o", "out.json", "--", "out.json")
    assert "would be overwritten" not in errors


def test_a_recording_does_not_write_over_its_source(tmp_path):
    code, launches = tmp_path / "k.ptx", tmp_path / "k.toml"
    code.write_text(".version 8.4")
    launches.write_text('source = "k.ptx"\n[[launch]]\nkernel = "k"\ngrid = 1\nblock = 1\n')
    for output in (code, launches):
        before = output.read_bytes()
        with pytest.raises(RecordingError, match="is also the input and would be overwritten"):
            record(launches, output=output)
        assert output.read_bytes() == before
