"""The command line: what it prints, what it writes, and the one line it says of what is wrong."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import simtmm.analysis.run
from simtmm import load_machine, load_trace
from simtmm.__main__ import main
from simtmm.kernel import kernel_folders
from simtmm.machine import machine_files
from simtmm.provenance import VERSION
from simtmm.trace.digest import TraceDigest
from simtmm.trace.parquet import COLUMNS
from simtmm.trace.schema import METADATA_KEY

ROOT = Path(__file__).parents[1]
TRACE = ROOT / "traces" / "list-ranking-wyllie.parquet"
WORKLOAD = {"blocks": [{"warps": [[["compute", 4], ["load", [0, 1]]]]}]}
RUN_KEYS = {
    "format",
    "program", "parameters", "machine", "counts", "occupancy", "simulated", "predictions", "hiding", "verdict",
    "provenance", "sampling", "sampled", "faults", "warnings", "schedules", "compared", "assumptions", "bound",
    "beside_the_model", "stalls", "units", "advice", "accesses",
}  # fmt: skip


class Outcome:
    """What a command gave: exit status, standard output and standard error."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


def without_progress(errors):
    """Standard error without how far long work is, which a machine under load shows of short work, too."""
    shown = re.compile(r"simtmm: (compiling .*|.*(takes about .*|\d %.*|so far.*|left in all))\n")
    return "".join(line for line in errors.splitlines(keepends=True) if not shown.fullmatch(line))


def test_progress_is_told_from_errors():
    told = "simtmm: testing changes to the source; about 1 s left in all\nsimtmm: compiling the engine\n"
    assert without_progress(f"{told}simtmm: error: n = 3: too few\nTraceback\n") == (
        "simtmm: error: n = 3: too few\nTraceback\n"
    )


def shell(*words, **environment):
    """The command in a process of its own. err: without progress."""
    done = subprocess.run(
        [sys.executable, "-m", "simtmm", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    return Outcome(done.returncode, done.stdout, without_progress(done.stderr))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Commands run in an empty folder, and keep what they build there."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def command(monkeypatch, capsys):
    """The command in this process, which is quicker."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["simtmm", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            main()
        out, err = capsys.readouterr()
        return Outcome(caught.value.code, out, err)

    return call


@pytest.fixture
def refused(command, here):
    """The one line with which a command is refused; nothing else may come of it."""

    def call(*words):
        before = sorted(here.iterdir())
        done = command(*words)
        assert done.status == 2
        assert done.out == ""
        assert done.err.count("\n") == 1
        assert done.err.startswith("simtmm: error: ")
        assert sorted(here.iterdir()) == before
        return done.err.removeprefix("simtmm: error: ").rstrip("\n")

    return call


@pytest.fixture
def workload(here):
    path = here / "w.json"
    path.write_text(json.dumps(WORKLOAD), encoding="utf-8")
    return path


def document(done):
    assert (done.status, done.err) == (0, "")
    return json.loads(done.out)


# run


def test_run_alone_works_without_a_compiler_and_reports_everything():
    done = shell("run", PATH="", CXX="")
    assert (done.status, done.err) == (0, "")
    for name in (
        "list-ranking-wyllie", "GeForce GTX 280", "work", "span", "memory operations", "threads per core", "occupancy",
        "simulated", "cycles", "TMM", "PRAM", "Where the simulated time went", "Verdict: ",
    ):  # fmt: skip
        assert name in done.out


def test_the_report_shows_the_numbers_of_the_document(command):
    found = document(command("run", "--json"))
    report = command("run").out
    shown = {
        "work": found["counts"]["work"],
        "span": found["counts"]["span"],
        "memory operations": found["counts"]["memory_operations"],
        f"simulated ({found['simulated']['engine']})": round(found["simulated"]["cycles"]),
        "TMM": round(found["predictions"]["tmm"]["cycles"]),
        "PRAM": round(found["predictions"]["pram"]["cycles"]),
    }
    for label, value in shown.items():
        first = re.search(rf"^{re.escape(label)} +(\S+)", report, re.MULTILINE)
        assert (label, first.group(1)) == (label, f"{value:,}")
    assert report.splitlines()[1] == f"Verdict: {found['verdict']}"
    assert report.rstrip().endswith(f"{found['beside_the_model']}\n{found['compared']}")


def test_a_report_in_a_pipe_has_no_colours_and_no_blanks_at_the_ends_of_lines(command):
    out = command("run").out
    assert "\x1b" not in out
    assert [line for line in out.splitlines() if line != line.rstrip()] == []


def test_run_with_a_kernel_and_parameters_records_it_first(command):
    done = command("run", "stream", "-p", "n=256", "--param", "operation=scale", "-m", "ideal", "--json")
    found = document(done)
    assert found["parameters"] == {"operation": "scale", "n": 256, "threads": 128, "shared_memory": 0, "seed": 0}
    assert found["counts"]["work"] == 256 * 3  # a load, an operation and a store each
    assert found["machine"]["name"] == "ideal"


def test_json_is_one_document_with_the_keys_of_a_run(command):
    done = command("run", "--json")
    assert set(document(done)) == RUN_KEYS
    assert done.out == json.dumps(json.loads(done.out), indent=2) + "\n"


def test_json_in_a_process_of_its_own_is_all_there_is():
    assert set(document(shell("run", "-m", "ideal", "--json"))) == RUN_KEYS


def test_output_writes_the_document_beside_the_report(command, here):
    done = command("run", "-o", "out.json")
    assert "Verdict: " in done.out
    assert os.listdir(here) == ["out.json"]
    assert set(json.loads((here / "out.json").read_text(encoding="utf-8"))) == RUN_KEYS


def test_output_and_json_give_the_same_document(command, here):
    done = command("run", "--json", "-o", "out.json")
    assert (here / "out.json").read_text(encoding="utf-8") == done.out


def test_run_with_a_workload_simulates_it_alone(command, workload):
    found = document(command("run", workload, "-m", "ideal", "--json"))
    assert found["program"] == str(workload)
    assert found["simulated"]["cycles"] == 105  # 4 instructions, the load, and its latency of 100
    assert (found["counts"], found["predictions"], found["hiding"]) == (None, {}, None)
    report = command("run", workload, "-m", "ideal").out
    assert re.search(r"^simulated \((fast|reference)\) +105\b", report, re.MULTILINE)
    assert "TMM" not in report


def test_run_with_a_trace_is_the_run_alone(command):
    named, alone = document(command("run", TRACE, "--json")), document(command("run", "--json"))
    del named["provenance"]["command"], alone["provenance"]["command"]
    assert named == alone


def test_a_machine_may_be_a_file(command, workload):
    path = ROOT / "machines" / "ideal.toml"
    found = document(command("run", workload, "--machine", path, "--json"))
    assert found["machine"]["name"] == "ideal"


def test_set_changes_the_machine(command, workload):
    changes = (
        "--set",
        "memory.latency=200.5",
        "--set",
        "memory.stores=posted",
        "--set",
        "scheduling.scheduler='oldest'",
    )
    found = document(command("run", workload, "-m", "ideal", *changes, "--json"))["machine"]
    assert found["memory"]["latency"] == 200.5
    assert found["memory"]["stores"] == "posted"
    assert found["scheduling"]["scheduler"] == "oldest"
    assert found["sources"]["memory.latency"]["certainty"] == "user"


def test_set_none_takes_a_key_away(command, workload):
    found = document(command("run", workload, "-m", "gtx480", "--set", "memory.l1=none", "--json"))["machine"]
    assert "l1" not in found["memory"]
    assert "l2" in found["memory"]


def test_of_one_key_set_twice_the_last_holds(command, workload):
    words = ("--set", "memory.latency=1", "--set", "memory.latency=200")
    assert document(command("run", workload, *words, "--json"))["machine"]["memory"]["latency"] == 200


def test_infinity_is_null_in_json(command, here, monkeypatch):
    trace = load_trace(TRACE)
    empty = trace.to_table().slice(0, 0)
    digest = TraceDigest().finish(trace.info.launches, trace.info.arrays)
    info = {**trace.info.to_dict(), "events": 0, "digest": digest}
    pq.write_table(empty.replace_schema_metadata({METADATA_KEY: json.dumps(info).encode()}), here / "t.parquet")
    found = document(command("run", "t.parquet", "--json"))
    assert found["hiding"]["limits"]["parallelism"] is None
    assert found["verdict"] == "There is nothing to simulate."


# machines, kernels


def test_machines_lists_every_machine(command):
    out = command("machines").out
    for name in machine_files():
        assert re.search(rf"^{re.escape(name)} ", out, re.MULTILINE)


def test_machines_as_json_gives_every_value_with_unit_and_source(command):
    found = document(command("machines", "--json"))
    assert set(found) == set(machine_files())
    latency = found["gtx480"]["values"]["memory.latency"]
    assert (latency["value"], latency["unit"], latency["certainty"]) == (512, "cycles", "derived")
    assert found["gtx480"]["values"]["scheduling.warp_launch"]["certainty"] == "default"


def test_one_machine_shows_every_value_with_its_source(command):
    out = command("machines", "cray-xmt").out
    for key in load_machine("cray-xmt").values():
        assert re.search(rf"^{re.escape(key)} ", out, re.MULTILINE), key
    assert "000 (Ma) section 3.1.3, X = 128" in out


def test_one_machine_as_json_has_its_digest(command):
    assert document(command("machines", "ideal", "--json"))["digest"] == load_machine("ideal").digest()


def test_one_machine_is_shown_with_what_is_set(command):
    values = document(command("machines", "ideal", "--set", "memory.latency=7", "--json"))["values"]
    assert (values["memory.latency"]["value"], values["memory.latency"]["certainty"]) == (7, "user")


def test_kernels_lists_every_kernel(command):
    out = command("kernels").out
    for name in kernel_folders():
        assert re.search(rf"^{re.escape(name)} ", out, re.MULTILINE)


def test_kernels_as_json_gives_every_kernel(command):
    assert set(document(command("kernels", "--json"))) == set(kernel_folders())


def test_one_kernel_shows_its_parameters(command):
    out = command("kernels", "stream").out
    assert re.search(r"^threads +128 +a whole number from 1 to 1024 +threads of a block$", out, re.MULTILINE)
    assert re.search(r"^seed +0 ", out, re.MULTILINE)


def test_one_kernel_as_json_gives_its_parameters(command):
    found = document(command("kernels", "stream", "--json"))
    assert found["parameters"]["threads"] == {
        "default": 128, "allowed": "a whole number from 1 to 1024", "help": "threads of a block",
    }  # fmt: skip


def test_a_list_goes_to_a_file_too(command, here):
    done = command("kernels", "--json", "-o", "k.json")
    assert (here / "k.json").read_text(encoding="utf-8") == done.out


# help, version


def test_version(command):
    done = command("--version")
    assert (done.status, done.out, done.err) == (0, f"simtmm {VERSION}\n", "")


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["run", "--help"], ["machines", "-h"]])
def test_help_goes_to_standard_output(command, words):
    done = command(*words)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("Usage: simtmm ")


def test_no_command_at_all_shows_the_help_and_is_wrong(command):
    done = command()
    assert (done.status, done.err) == (2, "")
    assert "Ask:\n  run " in done.out


def test_help_is_quick_because_it_loads_nothing_heavy():
    words = [sys.executable, "-X", "importtime", "-m", "simtmm", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "typer" in loaded
    assert not loaded & {"numba", "numpy", "pyarrow", "simpy", "pydantic", "networkx", "pandas", "matplotlib", "cupy"}


# What is wrong in the words of the command


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["rnu"], "No such command 'rnu'."),
        (["run", "--machin", "gtx280"], "No such option: --machin"),
        (["--frobnicate"], "No such option: --frobnicate"),
        (["run", "--machine"], "Option '--machine' requires an argument."),
        (["run", "one", "two"], "'two': arguments are for a Python script or a CUDA program, but one is neither"),
        (["run", "stream", "--build", "-O3"], "--build: is for a Python script or a CUDA program"),
        (["run", "--machine", "gtx48"], "machine 'gtx48': unknown; did you mean 'gtx480'"),
        (["machines", "gtx48"], "machine 'gtx48': unknown; did you mean 'gtx480'"),
        (["run", "list-ranking"], "kernel 'list-ranking': unknown; did you mean 'list-ranking-wyllie', "),
        (["kernels", "streem"], "kernel 'streem': unknown; did you mean 'stream'?"),
        (["run", "--engine", "refrence"], "engine 'refrence': unknown; did you mean 'reference'?"),
        (["run", "--set", "latency"], "--set latency: must be of the form KEY=VALUE"),
        (["run", "--set", "=3"], "--set =3: must be of the form KEY=VALUE"),
        (["run", "--set", ""], "--set : must be of the form KEY=VALUE"),
        (["run", "--set", "memory.latenci=3"], "machine GeForce GTX 280: memory.latenci: unknown key; did you mean "),
        (["run", "--set", "memory.latency=fast"], "machine GeForce GTX 280: memory.latency = 'fast': must be a number"),
        (["run", "--set", "memory.latency="], "machine GeForce GTX 280: memory.latency = '': must be a number"),
        (["run", "--set", "memory.latency=true"], "machine GeForce GTX 280: memory.latency = True: must be a number"),
        (["run", "--set", "memory.latency=nan"], "machine GeForce GTX 280: memory.latency = nan: must be a number"),
        (["run", "--set", "memory.latency=none"], "machine GeForce GTX 280: memory.latency: is missing"),
        (["run", "--set", "cores.groups=0"], "machine GeForce GTX 280: cores.groups = 0: must be a whole number"),
        (["run", "--set", "memory=3"], "machine GeForce GTX 280: memory = 3: must be a table of keys"),
        (["run", "--param", "n=4"], "list-ranking-wyllie.parquet: parameters (n) can only be given to a kernel"),
        (["run", TRACE, "--param", "n=4"], f"{TRACE}: parameters (n) can only be given to a kernel"),
        (["run", "stream", "-p", "n"], "--param n: must be of the form NAME=VALUE"),
        (["run", "stream", "-p", "m=4"], "kernel stream: parameter 'm': unknown; known: "),
        (["run", "stream", "-p", "thread=4"], "kernel stream: parameter 'thread': unknown; did you mean 'threads'?"),
        (["run", "stream", "-p", "n=many"], "kernel stream: parameter n = 'many': must be a whole number from 1 to "),
        (["run", "stream", "-p", "n=4.5"], "kernel stream: parameter n = '4.5': must be a whole number from 1 to "),
        (["run", "stream", "-p", "n=0"], "kernel stream: parameter n = '0': must be a whole number from 1 to "),
        (["run", "stream", "-p", "operation=copy"], "kernel stream: parameter operation = 'copy': must be one of "),
        (["run", "-o", "missing/out.json"], "missing/out.json: can't be written "),
        (["run", "-o", "."], ".: can't be written "),
        (["kernels", "-o", "missing/out.json"], "missing/out.json: can't be written "),
        (["run", "none.json"], "none.json: can't be read (No such file or directory)"),
        (["run", "none.parquet"], "none.parquet: can't be read "),
        (["run", "-m", "none.toml"], "none.toml: can't be read (No such file or directory)"),
        (["run", "."], "kernel .: kernel.cu is missing"),
        (["record", "stream", "--on", "gpus"], "recorder 'gpus': unknown"),
        (["record"], "Missing argument"),
        (["record", "stream", "-o", "t.json"], "-o t.json: a trace is written as .parquet; --json prints its document"),
        (["record", "stream", "-o", "t.txt"], "-o t.txt: a trace must end in .parquet"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)  # fmt: skip
def test_wrong_words_are_refused_in_one_line(refused, words, line):
    assert refused(*words).startswith(line)


@pytest.mark.parametrize(
    "words",
    [["rnu"], ["run", "-m", "gtx48"], ["run", "--set", "latency"], ["run", "none.json"]],
    ids=" ".join,
)
def test_a_process_of_its_own_ends_with_2_and_one_line(words):
    done = shell(*words)
    assert (done.status, done.out) == (2, "")
    assert re.fullmatch(r"simtmm: error: [^\n]+\n", done.err)


@pytest.mark.parametrize("word", ["name=mine", "description=mine"])
def test_set_gives_a_machine_another_name(command, workload, word):
    key, _, value = word.partition("=")
    assert document(command("run", workload, "--set", word, "--json"))["machine"][key] == value


@pytest.mark.parametrize(
    "change",
    [
        "memory.latency=1e308", "memory.service=1e308", "memory.chunk_words=1e20", "cores.groups=1e30",
        "cores.max_threads_per_core=1e308", "cores.warp_width=1e15", "banks.count=1e15", f"memory.latency={'1' * 5000}",
        f"memory.latency={'[' * 5000}",
    ],
    ids=lambda change: change[:30],
)  # fmt: skip
def test_a_number_beyond_every_machine_is_refused_in_one_line(refused, change):
    assert change.partition("=")[0] in refused("run", "--set", "ticks_per_cycle=100", "--set", change)


# What is wrong in files


@pytest.mark.parametrize(
    ("key", "misspelt"),
    [
        ("memory.word_bytes", "memory.word_byte"),
        pytest.param(
            "memory.latency",
            "memory.latensy",
        ),
    ],
)
def test_a_misspelt_key_in_a_machine_file_is_refused_with_file_and_nearest(refused, here, key, misspelt):
    text = (ROOT / "machines" / "ideal.toml").read_text(encoding="utf-8")
    words = [name.removeprefix("memory.") for name in (key, misspelt)]
    (here / "m.toml").write_text(re.sub(rf"^{words[0]} =", f"{words[1]} =", text, flags=re.MULTILINE), encoding="utf-8")
    assert refused("run", "-m", "m.toml").startswith(f"m.toml: {misspelt}: unknown key; did you mean {key!r}")


def test_an_unknown_operation_in_a_workload_is_refused_with_its_place(refused, here):
    (here / "w.json").write_text(json.dumps(WORKLOAD).replace("load", "laod"), encoding="utf-8")
    assert refused("run", "w.json") == ("w.json: blocks[0].warps[0][1]: unknown operation 'laod'; did you mean 'load'?")


@pytest.mark.parametrize("text", ["", "{", "no JSON"])
def test_what_is_not_json_is_refused(refused, here, text):
    (here / "w.json").write_text(text, encoding="utf-8")
    assert refused("run", "w.json").startswith("w.json: is not JSON (")


def test_a_block_that_fits_no_group_is_refused(refused, here):
    (here / "w.json").write_text(json.dumps({"blocks": [{"warps": [[]] * 33}]}), encoding="utf-8")
    line = refused("run", "w.json", "-m", "ideal")
    assert line.startswith("w.json: launch 0, block 0: 33 warps of 32 threads fit no core group of ideal, ")


def test_a_launch_that_fits_no_group_is_refused(refused):
    line = refused("run", "--set", "resources.threads_per_block=64")
    assert line.startswith("list-ranking-wyllie: launch 0 of jump: ")
    assert "resources.threads_per_block" in line


@pytest.mark.parametrize("part", [0.0, 0.3, 0.999])
def test_a_truncated_trace_is_refused(refused, here, part):
    whole = TRACE.read_bytes()
    (here / "t.parquet").write_bytes(whole[: int(part * len(whole))])
    assert refused("run", "t.parquet").startswith("t.parquet: is not a whole Parquet file (")


def test_a_trace_that_is_damaged_inside_is_refused(refused, here):
    damaged = bytearray(TRACE.read_bytes())
    damaged[1000:2000] = bytes(1000)
    (here / "t.parquet").write_bytes(damaged)
    assert refused("run", "t.parquet").startswith("t.parquet: ")


def test_a_folder_is_no_trace(refused, here):
    (here / "t.parquet").mkdir()
    assert refused("run", "t.parquet").startswith("t.parquet: ")


def test_another_programs_parquet_is_refused_with_what_is_needed(refused, here):
    pq.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), here / "t.parquet")
    line = refused("run", "t.parquet")
    assert line.startswith("t.parquet: is not a simtmm trace: ")
    assert all(column in line for column in COLUMNS.names)


@pytest.fixture
def rewritten(here):
    """The shipped trace with its rows, and perhaps its metadata, changed."""

    def write(change, **metadata):
        trace = load_trace(TRACE)
        table = change(trace.to_table())
        document = json.dumps({**trace.info.to_dict(), **metadata}).encode()
        pq.write_table(table.replace_schema_metadata({METADATA_KEY: document}), here / "t.parquet")

    return write


def with_column(table, name, values):
    at = table.schema.get_field_index(name)
    return table.set_column(at, COLUMNS.field(name), pa.array(values, COLUMNS.field(name).type))


def swap_threads(table):
    thread = table.column("thread").to_numpy().copy()
    thread[:10] = thread[:10][::-1] + np.arange(10)[::-1]
    return with_column(table, "thread", thread)


def edited(name, row, value):
    def change(table):
        values = table.column(name).to_numpy().copy()
        values[row] = value
        return with_column(table, name, values)

    return change


ORDER = "rows must be in the order of launch, block and thread"
CHANGES = {
    "removed at the end": (lambda table: table.slice(0, 237_565), "has 237565 rows, but its metadata says 237570"),
    "removed at the start": (lambda table: table.slice(5), "has 237565 rows, but its metadata says 237570"),
    "reversed": (lambda table: table.take(pa.array(np.arange(table.num_rows)[::-1])), ORDER),
    "halves exchanged": (
        lambda table: pa.concat_tables([table.slice(100_000), table.slice(0, 100_000)]), ORDER,
    ),
    "threads exchanged": (swap_threads, ORDER),
    "launch too large": (edited("launch", -1, 12), "a row names a launch or block that its metadata does not have"),
    "launch below 0": (edited("launch", 0, -1), "a row names a launch or block that its metadata does not have"),
    "block too large": (edited("block", -1, 32), "a row names a launch or block that its metadata does not have"),
    "thread too large": (edited("thread", -1, 128), ORDER),
    "unknown kind": (edited("kind", 7, 10), "kind 10: must be below 10"),
    "value too large": (edited("value", 0, 2**62), f"value {2**62}: addresses and counts must be below 2^62"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "line"), CHANGES.values(), ids=CHANGES)
def test_a_trace_whose_rows_were_changed_is_refused(refused, rewritten, change, line):
    rewritten(change)
    assert refused("run", "t.parquet").startswith(f"t.parquet: {line}")


def exchange_rows_of_a_thread(table):
    order = np.arange(table.num_rows)
    order[:2] = 1, 0
    return table.take(pa.array(order))


@pytest.mark.parametrize("change", [exchange_rows_of_a_thread, edited("value", 0, 1024)], ids=["order", "an address"])
def test_a_trace_whose_rows_do_not_have_its_digest_is_refused(refused, rewritten, change):
    rewritten(change)
    assert refused("run", "t.parquet").startswith("t.parquet: ")


@pytest.mark.parametrize(
    "metadata",
    [
        {"version": 99}, {"launches": 3}, {"launches": [{}]}, {"events": "many"}, {"provenance": None}, {"sites": [1]},
        {"arrays": [{"name": "a"}]}, {"parameters": 7},
    ],
    ids=str,
)  # fmt: skip
def test_a_trace_whose_metadata_is_not_understood_is_refused(refused, rewritten, metadata):
    rewritten(lambda table: table, **metadata)
    assert refused("run", "t.parquet").startswith("t.parquet: metadata 'simtmm.trace' can't be understood (")


def test_metadata_that_is_no_json_is_refused(refused, here):
    table = load_trace(TRACE).to_table().replace_schema_metadata({METADATA_KEY: b"{"})
    pq.write_table(table, here / "t.parquet")
    assert refused("run", "t.parquet").startswith("t.parquet: metadata 'simtmm.trace' can't be understood (")


def test_what_is_wrong_leaves_an_old_output_as_it_was(refused, here):
    (here / "out.json").write_text("old", encoding="utf-8")
    refused("run", "--engine", "none", "-o", "out.json")
    assert (here / "out.json").read_text(encoding="utf-8") == "old"


# Interrupted


def test_ctrl_c_ends_with_130_and_says_so(command, monkeypatch, here):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(simtmm.analysis.run, "run", interrupt)
    done = command("run", "-o", "out.json")
    assert (done.status, done.out, done.err) == (130, "", "simtmm: interrupted\n")
    assert os.listdir(here) == []


def test_a_reader_that_goes_away_is_no_traceback():
    words = f"{sys.executable} -m simtmm run --engine reference --json | head -c 1"  # it has nothing to compile
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=False)
    assert (done.stdout, without_progress(done.stderr)) == ("{", "")


def test_a_file_name_that_is_no_unicode_is_no_traceback(here):
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    path = os.fsencode(here) + b"/\xff.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(WORKLOAD, file)
    done = subprocess.run(
        [sys.executable, "-m", "simtmm", "run", path, "--engine", "reference"],
        capture_output=True,
        check=False,
        env=environment,
    )
    assert (done.returncode, without_progress(done.stderr.decode())) == (0, "")
    assert b"Verdict: " in done.stdout
