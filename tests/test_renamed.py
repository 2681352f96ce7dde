"""What was written down with an old name keeps its meaning: silently in Python, with a line on standard error else."""

import dataclasses
import json
import logging
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from simtmm import Launch, Machine, load_kernel, load_machine, load_trace, lower, renamed, sweep
from simtmm.errors import KernelError, MachineError, StudyError
from simtmm.machine import machine_toml
from simtmm.measurement.measure import load_measurement, save_measurement
from simtmm.measurement.timings import load_timings
from simtmm.result import LaunchTime, Measurement, Quartiles
from simtmm.trace.schema import METADATA_KEY

ROOT = Path(__file__).parents[1]
TRACE = ROOT / "traces" / "list-ranking-wyllie.parquet"
TABLES = {
    "name": "mine",
    "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 32, "max_threads_per_core": 64},
    "memory": {"latency": 400, "chunk_words": 32},
    "resources": {"shared_memory": 16384},
}
OLD = {
    **TABLES,
    "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 32, "threads_per_core": 64},
    "resources": {"local_memory": 16384},
}
NOTICES = [
    "cores.threads_per_core is now called cores.max_threads_per_core",
    "resources.local_memory is now called resources.shared_memory",
]


@pytest.fixture(autouse=True)
def anew():
    """Each notice is given once for each place; a test is to see its own."""
    renamed.tell.cache_clear()
    yield
    renamed.tell.cache_clear()


@pytest.fixture
def notices(caplog):
    """What was logged so far."""
    caplog.set_level(logging.INFO, "simtmm")
    return lambda: [record.getMessage() for record in caplog.records]


# --- machines ---------------------------------------------------------------------------------------------------------


def test_old_keys_make_the_same_machine_silently(notices):
    machine = Machine.from_dict(OLD)
    assert machine == Machine.from_dict(TABLES)
    assert machine.replace({"cores.threads_per_core": 32}) == machine.replace({"cores.max_threads_per_core": 32})
    assert (machine.cores.threads_per_core, machine.resources.local_memory) == (64, 16384)
    assert notices() == []


@pytest.mark.parametrize(("table", "old"), [("cores", "threads_per_core"), ("resources", "local_memory")])
def test_both_names_of_a_key_are_refused(table, old):
    tables = {**TABLES, table: {**TABLES[table], old: 64}}
    new = renamed.MACHINE_KEYS[f"{table}.{old}"]
    with pytest.raises(MachineError) as caught:
        Machine.from_dict(tables, origin="mine.toml")
    assert str(caught.value) == f"mine.toml: {table}.{old}: is the old name of {new}: give only one of them"


def test_both_names_are_refused_in_a_replacement_too():
    changes = {"cores.threads_per_core": 32, "cores.max_threads_per_core": 32}
    with pytest.raises(MachineError, match=r"cores\.threads_per_core: is the old name of cores\.max_threads_per_core"):
        Machine.from_dict(TABLES).replace(changes)


def test_a_file_with_old_keys_loads_with_a_notice_each(tmp_path, notices):
    text = machine_toml(Machine.from_dict(TABLES))
    old = text.replace("max_threads_per_core", "threads_per_core").replace("shared_memory", "local_memory")
    path = tmp_path / "mine.toml"
    path.write_text(old)
    assert load_machine(path) == Machine.from_dict(TABLES)
    assert notices() == [f"notice: {path}: {notice}" for notice in NOTICES]


def test_sources_of_old_keys_are_those_of_the_new_ones():
    source = {"source": "a data sheet", "certainty": "confirmed"}
    machine = Machine.from_dict({**OLD, "sources": {"cores.threads_per_core": source}})
    assert machine.sources["cores.max_threads_per_core"].source == "a data sheet"


@pytest.mark.parametrize(
    ("name", "digest"),
    [("gtx480", "58c5c8b9ed372796"), ("cray-xmt", "99e9f440cadff129")],
)
def test_a_machine_keeps_the_digest_that_it_had_by_its_old_keys(name, digest):
    # As computed before the keys were renamed: what a store keeps of a machine is still found. What came later apart:
    # stalls of NVIDIA's code count for nothing on a Cray XMT now.
    assert load_machine(name).replace({"scheduling.stalls": "add"}).digest() == digest


# --- the command line -------------------------------------------------------------------------------------------------


def command(*words, folder=None):
    return subprocess.run(
        [sys.executable, "-m", "simtmm", *map(str, words)], capture_output=True, text=True, check=False, cwd=folder
    )


def test_set_takes_an_old_key_with_one_line_on_standard_error():
    done = command("machines", "gtx480", "--set", "cores.threads_per_core=16", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["values"]["cores.max_threads_per_core"]["value"] == 16
    assert done.stderr == f"simtmm: notice: --set: {NOTICES[0]}\n"


def test_set_of_both_names_is_one_line():
    words = ("--set", "cores.threads_per_core=16", "--set", "cores.max_threads_per_core=32")
    done = command("machines", "gtx480", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "simtmm: error: --set: cores.threads_per_core: is the old name of "
        "cores.max_threads_per_core: give only one of them\n"
    )


# --- studies ----------------------------------------------------------------------------------------------------------

STUDY = """
program = "{trace}"
machines = ["gtx480"]
compute = ["tmm"]
constraints = ["{key} > 4"]

[set]
"resources.{memory}" = 32768

[axes]
"{key}" = [4, 8, 16]
"""


def test_a_study_file_with_old_axes_changes_and_constraints_gives_the_same_points(tmp_path, notices):
    old = {"key": "cores.threads_per_core", "memory": "local_memory"}
    new = {"key": "cores.max_threads_per_core", "memory": "shared_memory"}
    tables = []
    for name, words in (("old", old), ("new", new)):
        path = tmp_path / f"{name}.toml"
        path.write_text(STUDY.format(trace=TRACE, **words))
        tables.append(sweep(path, workers=1).to_table().to_pydict())
        if name == "old":
            assert [notice for notice in notices() if "notice: " in notice] == [
                f"notice: set: {NOTICES[1]}",
                f"notice: axes: {NOTICES[0]}",
                f"notice: constraint: {NOTICES[0]}",
            ]
    assert tables[0]["cores.max_threads_per_core"] == [4, 8, 16]
    assert tables[0]["status"] == ["skipped", "done", "done"]
    for columns in tables:
        del columns["reason"]  # names the condition as it was written
    assert tables[0] == tables[1]


def test_an_axis_by_both_names_is_refused():
    axes = {"cores.threads_per_core": [4, 8], "cores.max_threads_per_core": [4, 8]}
    with pytest.raises(
        StudyError, match=r"axes: cores\.threads_per_core: is the old name of cores\.max_threads_per_core"
    ):
        sweep({"program": str(TRACE), "axes": axes})


# --- kernels and launches ---------------------------------------------------------------------------------------------


def test_a_launch_takes_its_old_argument(notices):
    launch = Launch("f", ("a",), 1, 32, local_memory_bytes=128)
    assert launch == Launch("f", ("a",), 1, 32, shared_memory_bytes=128)
    assert launch.local_memory_bytes == 128
    assert notices() == ["notice: launch of 'f': local_memory_bytes is now called shared_memory_bytes"]


def test_a_launch_with_both_is_refused():
    with pytest.raises(KernelError, match="local_memory_bytes is the old name of shared_memory_bytes"):
        Launch("f", ("a",), 1, 32, shared_memory_bytes=64, local_memory_bytes=128)


def test_a_kernel_is_found_by_its_old_name(notices):
    assert load_kernel("local-chase").name == "shared-chase"
    assert notices() == ["notice: kernel: local-chase is now called shared-chase"]


@pytest.mark.parametrize(
    ("name", "old", "new"), [(name, *pair) for name, pairs in renamed.PARAMETERS.items() for pair in pairs.items()]
)
def test_a_parameter_is_taken_by_its_old_name(name, old, new, notices):
    kernel = load_kernel(name)
    assert kernel.resolve({old: 1024}) == kernel.resolve({new: 1024})
    assert notices() == [f"notice: kernel {name}: {old} is now called {new}"]
    with pytest.raises(KernelError, match=f"kernel {name}: parameter {old}: is the old name of {new}"):
        kernel.resolve({old: 1024, new: 1024})


# --- files ------------------------------------------------------------------------------------------------------------


def test_a_trace_with_old_metadata_loads(tmp_path):
    path = tmp_path / "old.parquet"
    table = pq.read_table(TRACE)
    document = json.loads(pq.ParquetFile(TRACE).metadata.metadata[METADATA_KEY])
    for launch in document["launches"]:
        launch["local_memory_bytes"] = launch.pop("shared_memory_bytes", launch.get("local_memory_bytes"))
    pq.write_table(table.replace_schema_metadata({METADATA_KEY: json.dumps(document).encode()}), path)
    old = load_trace(path)
    assert old.info == load_trace(TRACE).info
    assert lower(old, load_machine("ideal")) == lower(load_trace(TRACE), load_machine("ideal"))


def test_a_measurement_with_an_old_key_loads(tmp_path):
    times = Quartiles(1e-6, 2e-6, 3e-6)
    launch = LaunchTime("f", (1, 1, 1), (32, 1, 1), 16, 0, 4096, 8, times)
    measurement = Measurement("k", {}, "H200", (launch,), times, times, 5, 1, True, {}, "digest")
    path = tmp_path / "times.json"
    save_measurement(measurement, path)
    assert '"shared_memory_bytes"' in path.read_text()
    path.write_text(path.read_text().replace('"shared_memory_bytes"', '"local_memory_bytes"'))
    assert load_measurement(path) == dataclasses.replace(measurement)


def test_measured_times_of_an_old_kernel_are_those_of_the_new_one(tmp_path):
    path = tmp_path / "times.csv"
    path.write_text("kernel,machine,seconds,local_memory\nstream,v100,1e-3,1024\nlocal-chase,v100,1e-3,\n")
    stream, chase = load_timings(path)
    assert stream.parameters == {"shared_memory": "1024"}
    assert chase.kernel == "shared-chase"
