"""`simtmm machines calibrate`."""

import json
import sys
from pathlib import Path

import pytest

from simtmm import load_machine
from simtmm.__main__ import main
from tests.pages.examples import ROOT, commands
from tests.recorder.fake_cupy import FakeCupy

GOLDEN = Path(__file__).parents[1] / "golden"
LATENCY = str(GOLDEN / "v100_latency.csv")


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """The command in this process, in an empty folder: status, output, errors."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["simtmm", "machines", "calibrate", *words])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code, *capsys.readouterr()

    return call


@pytest.fixture
def stream(tmp_path):
    """A read kernel on 2 groups: what L = 434, 300 cycles to start a block and 6.4 GB/s give, rounded."""
    lines = ["block_size,threads_column,blocks_per_sm,occupancy_pct,read_GBs"]
    measured = ((32, 1, 0.96), (64, 1, 1.9), (128, 1, 3.7), (256, 1, 5.9), (512, 1, 6.3), (512, 2, 6.4))
    for size, blocks, bandwidth in measured:
        lines.append(f"{size},{2 * size * blocks},{blocks},{size * blocks / 10.24},{bandwidth}")
    path = tmp_path / "stream.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_a_machine_is_written_that_every_other_command_takes(command, stream, tmp_path):
    status, out, errors = command("--latency", LATENCY, "--stream", stream, "-o", "mine.toml")
    assert (status, errors) == (0, "")
    machine = load_machine(tmp_path / "mine.toml")
    assert (machine.name, machine.cores.groups, machine.clock_hz) == ("mine", 2, 1.38e9)
    assert machine.sources["memory.latency"].source == "v100_latency.csv"
    assert machine.sources["memory.service"].source == "stream.csv"
    for text in ("Levels of the pointer chase", "212.1", "Bandwidth over occupancy", "512 threads a block"):
        assert text in out
    assert "Ill-determined: cores.cores_per_group, cores.warp_width, memory.l1.ways" in out


def test_the_document_has_each_value_with_its_measurement_and_the_error_of_each_point(command):
    status, out, errors = command("--latency", LATENCY, "--gpu", "v100", "--machine", "v100", "--json")
    assert (status, errors) == (0, "")
    document = json.loads(out)
    values = {value["key"]: value for value in document["values"]}
    assert values["memory.l2.latency"]["value"] == 212.1
    assert values["memory.l2.latency"]["measurement"] == "v100_latency.csv, v100"
    assert document["ill_determined"] == ["memory.l1.ways", "memory.l2.ways"]
    assert len(document["latency_errors"]) == 143
    assert document["stream"] is None
    assert document["machine"]["name"] == "v100"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--latency", "none.csv"), "none.csv: can't be read"),
        (("--latency", LATENCY), "cores.groups: unknown: give a machine"),
        (("--latency", LATENCY, "--gpu", "v1000"), "gpu 'v1000': unknown; did you mean 'v100'?"),
        (("--latency", LATENCY, "--set", "cores.warp_width=64"), "--set cores.warp_width=64: changes a machine"),
        (("--latency", LATENCY, "--machine", "v100", "-o", "no/where.toml"), "there is no folder no"),
        ((), "calibrate: needs --latency FILE (and --stream FILE), or --device NUMBER"),
        (("--latency", LATENCY, "--device", "0"), f"calibrate: --latency {LATENCY}: can't be combined with --device"),
        (("--device", "0", "--stream", "s.csv"), "calibrate: --stream s.csv: can't be combined with --device"),
        (("--device", "0", "--gpu", "v100"), "calibrate: --gpu v100: can't be combined with --device"),
        (("--latency", LATENCY, "--keep", "."), "calibrate: --keep .: needs --device"),
        (("--device", "0", "--keep", "nowhere"), "--keep nowhere: no such folder"),
        (("--micro", LATENCY), "calibrate: --micro: needs --machine NAME"),
        (("--micro", LATENCY, "--latency", LATENCY), f"calibrate: --latency {LATENCY}: can't be combined with --micro"),
        (("--micro", LATENCY, "--machine", "v100"), "has neither the columns sass and cycles"),
        (("--latency", LATENCY, "--latency-from", "reed"), "latency from 'reed': must be chase or read"),
        (("--latency", LATENCY, "--machine", "v100", "--latency-from", "read"), "latency from read: needs bandwidth"),
        (
            ("--latency", LATENCY, "--machine", "v100", "--hold", "memory.port_interval"),
            "hold memory.port_interval: needs",
        ),
        (("--latency", LATENCY, "--hold", "memory.service"), "hold 'memory.service': must be one of scheduling.block_"),
    ],
)
def test_what_is_wrong_is_reported_in_a_line(command, words, line):
    status, out, errors = command(*words)
    assert (status, out) == (2, "")
    assert line in errors
    assert errors.count("\n") == 1


def test_the_pages_commands_run_from_a_checkout(command, monkeypatch, tmp_path):
    """Each file that they read is there, and what is quick prints what the page shows."""
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "traces").symlink_to(ROOT / "traces")
    ours = [each for each in commands(ROOT / "docs" / "calibration.md") if each.words[:2] == ["machines", "calibrate"]]
    files = [word for each in ours for word in each.words if word.endswith(".csv")]
    assert files
    assert [name for name in files if not (tmp_path / name).exists()] == []
    shown = [each for each in ours if each.shown is not None]
    assert shown
    for each in shown:
        status, out, errors = command(*each.words[2:])
        assert (status, errors) == (0, "")
        printed = [" ".join(line.split()) for line in out.splitlines()]
        assert {" ".join(line.split()) for line in each.shown.splitlines()} - {"..."} <= set(printed)


def test_without_cupy_a_line_says_what_is_missing(command, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "cupy", None)
    status, out, errors = command("--device", "0", "-o", "mine.toml")
    assert (status, out) == (2, "")
    assert "a GPU needs CuPy, which can't be imported" in errors
    assert errors.count("\n") == 1
    assert not (tmp_path / "mine.toml").exists()


def test_without_a_gpu_a_line_says_so(command, monkeypatch, tmp_path):
    fake = FakeCupy()
    fake.devices = 0
    monkeypatch.setitem(sys.modules, "cupy", fake)
    status, out, errors = command("--device", "0", "-o", "mine.toml")
    assert (status, out) == (2, "")
    assert "CuPy finds no GPU" in errors
    assert errors.count("\n") == 1
    assert not (tmp_path / "mine.toml").exists()
