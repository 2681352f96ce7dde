"""`simtmm machines --table`."""

import json
import re
import sys

import pytest

from simtmm.__main__ import main
from simtmm.machine import machine_files


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Runs the command line in this process, in an empty folder, and gives exit status and standard output."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["simtmm", *words])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code, capsys.readouterr().out

    return call


def test_the_table_has_a_line_for_every_machine_and_fits_120_columns(command):
    status, out = command("machines", "--table")
    assert status == 0
    for name in machine_files():
        assert re.search(rf"^{re.escape(name)} ", out, re.MULTILINE)
    assert max(map(len, out.splitlines())) <= 120


def test_the_table_as_json_has_every_machine(command):
    status, out = command("machines", "--table", "--json")
    assert status == 0
    assert set(json.loads(out)) == set(machine_files())


def test_the_table_of_one_machine_has_it_with_what_is_set(command):
    status, out = command("machines", "gtx480", "--table", "--set", "memory.latency=7", "--json")
    assert status == 0
    assert json.loads(out)["gtx480"]["latency"] | {"meaning": ""} == {
        "value": 7, "unit": "cycles", "meaning": "", "certainty": "user",
    }  # fmt: skip


def test_the_document_of_the_table_is_written_to_a_file(command, tmp_path):
    status, out = command("machines", "--table", "-o", "table.json")
    assert status == 0
    assert out.startswith("machine ")
    assert set(json.loads((tmp_path / "table.json").read_text())) == set(machine_files())
