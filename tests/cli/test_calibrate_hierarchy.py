"""`simtmm machines calibrate` with measurements of the hierarchy, and the same from Python."""

import csv

import pytest

import simtmm
from simtmm import load_machine
from simtmm.calibration.values import Calibration
from tests.calibration.test_hierarchy import MACHINE, OTHER, SMALL, measured


def small_file(tmp_path, machine, gpus=("mine", "other")):
    path = tmp_path / "small.csv"
    rows = measured("small", SMALL, machine).rows
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["run", "elements", "block", "GB_per_s"])
        for gpu in gpus:
            for row in rows:
                run = gpu + ("_graph" if row.of["way"] == "graph" else "")
                gb = 16 * row.of["elements"] / row.measured / 1e9
                table.writerow([run, row.of["elements"], row.of["block"], f"{gb:.6g}"])
        table.writerow([f"{gpus[0]}_gsync", 4096, 32, 1])
    return path


def test_from_a_file_on_the_command_line(called, tmp_path):
    path = small_file(tmp_path, MACHINE.replace(OTHER))
    base, output = tmp_path / "base.toml", tmp_path / "mine.toml"
    Calibration(MACHINE, (), (), None).save(base)
    words = "--small", path, "--gpu", "mine", "-m", base, "-o", output
    status, out, errors = called("machines", "calibrate", *words)
    assert (status, errors) == (0, "")
    assert "small: small.csv, mine" in out
    machine = load_machine(output)
    assert machine.name == "mine"
    assert machine.scheduling.block_interval == pytest.approx(60, rel=0.03)
    assert machine.sources["scheduling.block_interval"].source == "small.csv, mine"
    found = simtmm.calibrate(small=path, gpu="mine", base=base)
    assert found.machine.scheduling.block_interval == machine.scheduling.block_interval
    assert found.to_dict()["sets"][0]["rows"] == len(SMALL)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "calibrate: --small: needs --machine NAME"),
        (["--micro", "FILE", "-m", "a40"], "--small FILE: can't be combined with --micro"),
        (["--device", "0", "-m", "a40"], "--small FILE: can't be combined with --device"),
        (["--stream", "FILE", "-m", "a40"], "--stream FILE: needs --latency"),
    ],
)
def test_what_does_not_go_together_is_refused(called, tmp_path, given, said):
    path = small_file(tmp_path, MACHINE)
    words = [str(path) if word == "FILE" else word for word in given]
    status, out, errors = called("machines", "calibrate", "--small", path, *words)
    assert (status, out) == (2, "")
    assert said.replace("FILE", str(path)) in errors
