"""`simtmm machines` and `simtmm machines new`."""

import json
import re
import sys
import tomllib

import pytest

from simtmm.__main__ import main
from simtmm.errors import MachineError
from simtmm.machine import load_machine, machine_files


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


NEW = ("machines", "new", "Mine", "--family", "ada", "--sms", "128", "--clock", "2.52e9", "--bandwidth", "1008e9")


def test_a_machine_is_written_as_toml_and_reads_back_as_itself(command, tmp_path):
    status, _ = command("machines", "rtx-4090", "-o", "x.toml")
    assert status == 0
    assert load_machine(tmp_path / "x.toml") == load_machine("rtx-4090")


def test_a_machine_is_written_as_json_to_any_other_file(command, tmp_path):
    assert command("machines", "gtx480", "-o", "x.json")[0] == 0
    assert json.loads((tmp_path / "x.json").read_text())["name"] == "GeForce GTX 480"


@pytest.mark.parametrize("words", [("-o", "x.toml"), ("gtx480", "--table", "-o", "x.toml")])
def test_a_table_or_list_is_not_written_as_toml(command, tmp_path, words):
    assert command("machines", *words)[0] == 2
    assert not (tmp_path / "x.toml").exists()


def test_a_new_machine_is_written_with_what_is_yours_and_what_is_its_familys(command, tmp_path):
    status, out = command(*NEW, "--l2", "72MiB", "--shared", "96KiB", "-o", "mine.toml")
    assert (status, out.splitlines()[0]) == (0, "Mine")
    tables = tomllib.loads((tmp_path / "mine.toml").read_text())
    assert tables["memory"]["l2"]["sets"] == 72 * 2**20 // (128 * 16)
    assert tables["resources"]["shared_memory"] == 96 * 1024
    sources = tables["sources"]
    assert sources["clock_hz"] == {"source": "yours", "certainty": "user"}
    assert sources["scheduling.block_launch"]["source"].startswith("family ada: ")
    assert command("machines", "./mine.toml")[0] == 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), "memory.l2.size (--l2): is missing, and no family supplies it: give a size such as 72MiB, or none"),
        (
            ("--l2", "1MiB", "--clock", "2.52"),
            "--clock 2.52: must be in Hz, at least 1e+06, as 1.7e9 or 1.7GHz",
        ),
        (
            ("--l2", "1MiB", "--bandwidth", "1008GiB"),
            "--bandwidth 1008GiB: must be in B/s, at least 1e+06, as 1.7e9 or 1.7GB/s",
        ),
        (
            ("--l2", "1MiB", "--measured-bandwidth", "2TB/s"),
            "measured_bandwidth = 2e+12: must be at most peak_bandwidth = 1.008e+12",
        ),
        (("--l2", "72MB"), "memory.l2.size = 72MB: must be in B, KiB, MiB, GiB (1 KiB is 1024 bytes)"),
        (("--l2", "big"), "memory.l2.size = 'big': must be a size, as 72MiB or 96KiB"),
        (("--l2", "1MiB", "--threads", "1536"), "--threads 1536: counts the threads of a group, so it needs --cores"),
        (("--l2", "1MiB", "--set", "clock_hz=1e9"), "--set clock_hz: has an option of its own: use that"),
    ],
)
def test_what_a_new_machine_lacks_is_reported_in_a_line(command, capsys, monkeypatch, words, line):
    monkeypatch.setattr(sys, "argv", ["simtmm", *NEW, *words])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert line in capsys.readouterr().err


def test_rates_may_be_given_with_their_units(command, tmp_path):
    words = ("--clock", "2520 mhz", "--bandwidth", "1.008TB/s", "--measured-bandwidth", "950e9", "--l2", "1MiB")
    assert command(*NEW[: NEW.index("--clock")], *words, "-o", "mine.toml")[0] == 0
    tables = tomllib.loads((tmp_path / "mine.toml").read_text())
    assert [tables[key] for key in ("clock_hz", "peak_bandwidth", "measured_bandwidth")] == [2.52e9, 1.008e12, 950e9]


def test_a_name_that_is_a_file_here_is_told_its_path(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_bytes(machine_files()["v100"].read_bytes())
    monkeypatch.setattr(sys, "argv", ["simtmm", "machines", "mine"])
    with pytest.raises(SystemExit):
        main()
    assert "machine 'mine': unknown; the file of that name is ./mine.toml" in capsys.readouterr().err


def test_a_factor_turned_round_is_told_how_it_is_written():
    with pytest.raises(MachineError, match=r"memory\.latency = 0\.5x: write a multiple as x0\.5"):
        load_machine("v100").replace({"memory.latency": "0.5x"})


def test_a_machine_of_a_given_folder_is_found_by_its_name(command, tmp_path, monkeypatch):
    monkeypatch.setenv("SIMTMM_MACHINE_PATH", "")  # which --machine-path sets, for processes that are started from here
    (tmp_path / "of-mine").mkdir()
    assert command(*NEW, "--l2", "none", "-o", "of-mine/mine.toml")[0] == 0
    assert command("machines", "Mine")[0] == 2
    status, out = command("machines", "Mine", "--machine-path", "of-mine", "--json")
    assert (status, json.loads(out)["family"]) == (0, "ada")


def test_the_table_marks_what_a_family_gave(command):
    _, out = command("machines", "--table")
    (line,) = [line for line in out.splitlines() if line.startswith("rtx-4090 ")]
    assert line.split()[:3] == ["rtx-4090", "ada", "128?"]
    assert "632.3~" in line
    _, out = command("machines", "--table", "--json")
    assert json.loads(out)["rtx-4090"]["latency"]["certainty"] == "family"


def test_a_changed_machine_is_reported_in_the_table(command):
    _, out = command("machines", "v100", "--table", "--set", "memory.latency=x0.5")
    assert "v100 (memory.latency x0.5)" in out


def test_a_file_that_is_no_machine_is_named_and_the_others_are_listed(command, tmp_path, caplog):
    (tmp_path / "machines").mkdir()
    (tmp_path / "machines" / "broken.toml").write_text("[cores\n")
    (tmp_path / "machines" / "own.toml").write_bytes(machine_files()["v100"].read_bytes())
    status, out = command("machines", "--json")
    assert status == 0
    assert {"own", "v100"} <= set(json.loads(out))
    assert (
        "broken.toml: is not TOML (Expected ']' at the end of a table declaration (at line 1, column 7)): skipped"
        in caplog.text
    )
