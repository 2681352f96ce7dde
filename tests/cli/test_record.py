"""`simtmm record`, and where kernels are found by name."""

import json
import os

import pytest

from simtmm import load_trace
from simtmm.files import data_folders, given_folders
from tests.recorder.build import DEVICE, host
from tests.recorder.conftest import needs_compiler

RACY = "__global__ void f(int* a) { ST(a, 0, threadIdx.x); }"
WRONG = "simtmm: error: kernel own: wrong answer: a[0] is 2"


@pytest.fixture
def command(called, monkeypatch, tmp_path):
    """The command in this process, in an empty folder: status, output, errors."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("SIMTMM_KERNEL_PATH", "")  # put back behind the test

    return called


@pytest.fixture
def kernel(tmp_path):
    """Make a kernel in a folder of kernels."""

    def make(name="own", folder="kernels-of-mine", device=RACY, **what):
        path = tmp_path / folder / name
        path.mkdir(parents=True)
        (path / "kernel.cu").write_text(DEVICE + device)
        (path / "host.py").write_text(host(**{"block": "3", **what}))
        return path

    return make


# --- races ------------------------------------------------------------------------------------------------------------


@needs_compiler
def test_races_are_listed_behind_the_trace_and_are_no_error(command, kernel):
    status, out, errors = command("record", kernel(), "--races")
    lines = out.splitlines()
    assert (status, errors) == (0, "")
    assert lines[0].startswith("own.parquet: own, 1 launch, 3 events")
    assert lines[1] == "races: 1 pair of sites"
    assert lines[2] == (
        f"f: within a block: store and store of a[0]: kernel.cu:2 `{RACY}` with kernel.cu:2 `{RACY}`: "
        "launch 0, block 0, threads 0 and 1; 2 times"
    )
    assert len(lines) == 3


@needs_compiler
def test_the_document_has_the_races_only_if_they_were_requested(command, kernel):
    folder = kernel()
    assert "races" not in json.loads(command("record", folder, "--json")[1])
    races = json.loads(command("record", folder, "--json", "--races")[1])["races"]
    assert (races["pairs"], races["harmful"], races["accesses"]) == (1, 1, 2)
    (race,) = races["found"]
    assert (race["kernel"], race["scope"], race["array"], race["index"]) == ("f", "block", "a", 0)
    assert race["benign"] is False
    assert (race["first"]["line"], race["first"]["thread"], race["second"]["thread"]) == (2, 0, 1)


@needs_compiler
def test_at_most_twenty_are_shown_with_how_many_there_are(command, kernel):
    body = "".join(f"ST(a, 0, {number} + threadIdx.x);" for number in range(25))
    shorter = kernel(device=f"__global__ void f(int* a) {{ {body} }}")
    _, out, _ = command("record", shorter, "--races")
    lines = out.splitlines()
    count = int(lines[1].split()[1])
    assert count > 20
    assert len(lines) == 2 + 20 + 1
    assert lines[-1] == f"... and {count - 20} more"
    document = json.loads(command("record", shorter, "--races", "--json")[1])["races"]
    assert (document["pairs"], len(document["found"])) == (count, 20)


@needs_compiler
def test_a_wrong_answer_names_a_race_it_may_come_of(command, kernel):
    folder = kernel(check="raise WrongAnswer('a[0] is 2')")
    plain, racing = (command("record", folder, *words)[2] for words in ((), ("--races",)))
    assert plain == f"{WRONG}\n"
    assert racing.startswith(f"{WRONG}; it has a race: f: within a block: store and store of a[0]: ")


# --- limits -----------------------------------------------------------------------------------------------------------


@needs_compiler
def test_more_events_than_allowed_are_refused_and_nothing_is_written(command, kernel):
    folder = kernel()
    status, out, errors = command("record", folder, "--most-events", 2)
    assert (status, out) == (2, "")
    assert "launch 0 of f" in errors
    assert "2 events so far and more to come, but at most 2 may be recorded" in errors
    assert os.listdir() == []
    assert command("record", folder, "--most-events", 3)[0] == 0
    assert load_trace("own.parquet").info.events == 3


def test_a_limit_of_nothing_is_refused(command):
    assert command("record", "stream", "--most-events", 0)[0] == 2


# --- where kernels are found ------------------------------------------------------------------------------------------


def test_kernels_in_a_folder_that_is_named_are_found_by_name(command, kernel):
    folder = kernel().parent
    status, out, _ = command("kernels", "own", "--kernel-path", folder)
    assert status == 0
    assert out.startswith("own\nA probe.")
    _, listed, _ = command("kernels", "--kernel-path", folder, "--json")
    assert {"own", "stream"} <= set(json.loads(listed))


@needs_compiler
@pytest.mark.parametrize("verb", ["run", "record", "predict"])
def test_every_verb_that_takes_a_kernel_takes_the_folder(command, kernel, verb):
    status, _, errors = command(verb, "own", "--kernel-path", kernel().parent)
    assert (status, errors) == (0, "")


def test_a_folder_may_be_named_by_the_environment(command, kernel, monkeypatch):
    monkeypatch.setenv("SIMTMM_KERNEL_PATH", str(kernel().parent))
    assert command("kernels", "own")[0] == 0


def test_the_first_folder_that_has_a_kernel_of_the_name_is_taken(command, kernel, monkeypatch):
    first, second, third = (kernel("stream", folder).parent for folder in ("first", "second", "third"))
    monkeypatch.setenv("SIMTMM_KERNEL_PATH", str(third))
    for words, expected in [
        (("--kernel-path", first, "--kernel-path", second), first),
        (("--kernel-path", second), second),
        ((), third),
    ]:
        monkeypatch.setenv("SIMTMM_KERNEL_PATH", str(third))
        _, out, _ = command("kernels", "stream", *words)
        assert f"source: {expected / 'stream'}" in out


def test_only_kernels_are_looked_for_there(kernel, monkeypatch):
    folder = kernel().parent
    monkeypatch.setenv("SIMTMM_KERNEL_PATH", os.pathsep.join([str(folder), str(folder / "missing"), ""]))
    assert given_folders("kernels")[0] == folder
    assert folder not in data_folders("machines")
    assert folder / "missing" not in given_folders("kernels")


def test_a_folder_that_is_not_there_or_a_kernel_itself_is_refused(command, kernel):
    folder = kernel()
    line = "simtmm: error: --kernel-path missing: no such folder\n"
    assert command("kernels", "--kernel-path", "missing") == (2, "", line)
    status, _, errors = command("record", "own", "--kernel-path", folder)
    assert status == 2
    assert errors.endswith("is a kernel itself; give its parent folder\n")
