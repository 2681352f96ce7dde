"""Whatever ends a command, at whatever moment: no process is left, and no file."""

import json
import os
import random
import signal
import subprocess
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from simtmm.files import written_whole
from simtmm.trace.io import load_trace
from tests.children.kinds import (
    COMMAND,
    KINDS,
    PATIENCE,
    SHORT,
    SIGNALS,
    children,
    environment,
    has_begun,
    lay_out,
    waited_for,
)
from tests.cuda.compilers.conftest import needs_nvrtc

MOMENTS = int(os.environ.get("SIMTMM_MOMENTS", "1"))  # of each kind and signal; what is asked for holds at each
# Each kind of child with every second signal, each signal with every second kind; all where moments are asked for
PAIRS = [
    (name, number)
    for place, name in enumerate(KINDS)
    for turn, number in enumerate(SIGNALS)
    if "SIMTMM_MOMENTS" in os.environ or (place + turn) % 2 == 0
]
LATEST = 1.0  # seconds behind the moment at which a child is about its work
READERS = {".json": json.loads, ".toml": tomllib.loads}  # of what short commands write
WHOLE = 4.0  # seconds that a short command takes, and more
STARTED = []  # by the test that runs


@pytest.fixture(autouse=True)
def none_goes_on():
    """A test that fails, or is interrupted, leaves no command that would run for an hour."""
    yield
    while STARTED:
        with STARTED.pop() as process:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """What is compiled is kept from one moment to the next."""
    return str(tmp_path_factory.mktemp("cache"))


def started(words, folder, **more):
    own = environment(folder, **more)
    silent = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    process = subprocess.Popen([*COMMAND, *words], cwd=folder, env=own, stderr=subprocess.PIPE, text=True, **silent)
    STARTED.append(process)
    return process


def heeds(process, number=signal.SIGHUP):
    """Whether the command heeds a signal by now; by default the last of those that it does."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    caught = next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt:"))
    return bool(caught >> (number - 1) & 1)


def statuses(number):
    """How a command ends by a signal."""
    return {-number} if number == signal.SIGKILL else {128 + number}


def check_nothing_is_left(folder, kept=("out.sqlite",)):
    """kept: files that may be there, whole: a study's store, with which it goes on."""
    assert waited_for(lambda: not children(folder))
    assert waited_for(lambda: not os.listdir(folder / "temporary")), os.listdir(folder / "temporary")
    with written_whole(folder / "another.json") as part:  # who writes there removes what a killed one left
        part.write_text("{}")
    assert not [name for name in os.listdir(folder) if name.endswith(".part")]
    assert not [name for name in os.listdir(folder) if name.startswith("out.") and name not in kept]


@needs_nvrtc
@pytest.mark.parametrize(("name", "number"), PAIRS, ids=lambda each: getattr(each, "name", each))
def test_a_child_ends_with_its_command_and_nothing_is_left(name, number, cache, tmp_path):
    if name == "dask" and find_spec("distributed") is None:
        pytest.skip("Dask is not installed")
    kind = KINDS[name]
    draw = random.Random(f"{name} {number}")
    for moment in range(MOMENTS):
        folder = tmp_path / str(moment)
        folder.mkdir()
        lay_out(kind, folder)
        variables = {key: str(folder / value) for key, value in kind.variables.items()}
        process = started(kind.words, folder, SIMTMM_CACHE=cache, **variables)
        assert waited_for(lambda: has_begun(kind, folder), process), process.communicate()[1]  # noqa: B023
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(draw.uniform(0, LATEST))
        process.send_signal(number)
        _, told = process.communicate(timeout=PATIENCE)
        assert process.returncode in statuses(number), told
        assert "Traceback" not in told
        if name == "program" and number == signal.SIGINT and (folder / "out.parquet").exists():
            load_trace(folder / "out.parquet")  # what it had launched until then is written, and whole
            (folder / "out.parquet").unlink()
        check_nothing_is_left(folder)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("name", SHORT)
def test_a_command_that_is_ended_at_any_moment_says_so_by_its_status(name, number, cache, tmp_path):
    times, words = SHORT[name]
    draw = random.Random(int(number))
    for _ in range(times * MOMENTS):
        process = started(words, tmp_path, SIMTMM_CACHE=cache)
        assert waited_for(lambda: heeds(process.pid), process)  # noqa: B023 - before that, it is Python's
        try:
            process.wait(draw.uniform(0, WHOLE))
        except subprocess.TimeoutExpired:
            process.send_signal(number)
        _, told = process.communicate(timeout=PATIENCE)
        assert process.returncode in {0, *statuses(number)}, told  # one that was done is done
        assert "Traceback" not in told
        check_nothing_is_left(tmp_path, words[-1:])
        output = tmp_path / words[-1]
        if output.exists():  # written when the signal came, and whole
            READERS[output.suffix](output.read_text(encoding="utf-8"))
            output.unlink()
        else:
            assert process.returncode != 0


@pytest.mark.parametrize("number", SIGNALS[:-1], ids=lambda number: number.name)
def test_a_command_that_is_done_keeps_its_status(number, tmp_path):
    """Python takes handlers away before the process ends."""
    process = started(("--version",), tmp_path)
    assert waited_for(lambda: heeds(process.pid), process)
    while process.poll() is None and heeds(process.pid, number):
        pass
    process.send_signal(number)
    _, told = process.communicate(timeout=PATIENCE)
    assert (process.returncode, told) == (0, "")


def test_a_signal_that_is_to_be_ignored_is(tmp_path):
    """As `nohup` has it."""
    lay_out(KINDS["script"], tmp_path)
    words = ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh", *COMMAND, *KINDS["script"].words]
    process = subprocess.Popen(words, cwd=tmp_path, env=environment(tmp_path), stderr=subprocess.PIPE, text=True)
    STARTED.append(process)
    assert waited_for(lambda: has_begun(KINDS["script"], tmp_path), process)
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGTERM
    assert told.splitlines()[-1] == "simtmm: ended by SIGTERM"
