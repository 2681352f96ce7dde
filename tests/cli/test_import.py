"""`simtmm record import`: what it prints, what it writes, and the one line it says of what is wrong."""

import json
import sys

import pytest

from simtmm import load_trace
from simtmm.__main__ import main
from tests.trace.importers.build import line, load, traceg

GLOBAL = 0x7F0000000000
TEXT = traceg([[load(GLOBAL, "R4"), load(GLOBAL + 4096, "R5"), line("FADD", of=["R4", "R5"])]])


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """The command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["simtmm", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            main()
        out, err = capsys.readouterr()
        return caught.value.code, out, err

    return call


@pytest.fixture
def kernels(tmp_path):
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "kernel-1.traceg").write_text(TEXT, encoding="utf-8")
    (tmp_path / "program" / "kernelslist.g").write_text("kernel-1.traceg\n", encoding="utf-8")
    return tmp_path / "program" / "kernelslist.g"


def test_an_imported_trace_runs(command, kernels):
    status, out, err = command("record", "import", kernels, "-o", "t.parquet")
    assert (status, err) == (0, "")
    assert out == (
        f"t.parquet: program, 1 launch, 128 events, digest {load_trace('t.parquet').info.digest}\n"
        "1 warps; their accesses: 2 global, 0 shared, 0 local; 0 barriers\n"
    )
    status, out, err = command("run", "t.parquet", "-m", "a100-80", "--json")
    assert (status, err) == (0, "")
    counts = json.loads(out)["counts"]
    assert (counts["work"], counts["memory_operations"], counts["waits"]) == (96, 2, 1)


def test_json_is_the_whole_trace_but_its_events(command, kernels):
    status, out, err = command("record", "import", kernels, "-o", "t.parquet", "--json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert (document["path"], document["events"], document["kernel"]) == ("t.parquet", 128, "program")
    assert document["provenance"]["recorder"] == "accelsim"


def test_a_damaged_file_is_one_line_and_nothing_is_written(command, kernels):
    damaged = kernels.parent / "kernel-1.traceg"
    damaged.write_text(TEXT.replace("FADD", "0x7"), encoding="utf-8")
    status, out, err = command("record", "import", kernels, "-o", "t.parquet")
    at = 1 + TEXT[: TEXT.index("FADD")].count("\n")
    assert (status, out) == (2, "")
    assert err == f"simtmm: error: {damaged}: line {at}: expected an opcode, not '0x7'\n"
    assert not kernels.parent.parent.joinpath("t.parquet").exists()


def test_a_file_is_needed_and_one_to_write(command, kernels):
    assert command("record", "import", kernels)[0] == 2
    assert command("record", "import", "-o", "t.parquet")[0] == 2
    assert "none.g: can't be read" in command("record", "import", "none.g", "-o", "t.parquet")[2]
    assert "no folder" in command("record", "import", kernels, "-o", "none/t.parquet")[2]


def test_the_format_can_be_given(command, kernels):
    assert command("record", "import", kernels, "-o", "t.parquet", "--format", "accelsim")[0] == 0
    assert (
        "has no line 'MEMTRACE" in command("record", "import", kernels, "-o", "u.parquet", "--format", "mem-trace")[2]
    )
    assert "format 'xyz': unknown" in command("record", "import", kernels, "-o", "u.parquet", "--format", "xyz")[2]


def test_unknown_opcodes_are_reported_once(command, kernels):
    path = kernels.parent / "kernel-1.traceg"
    path.write_text(TEXT.replace("FADD", "FROB"), encoding="utf-8")
    status, _, _ = command("record", "import", kernels, "-o", "t.parquet")
    assert status == 0


def test_launches_and_blocks_can_be_chosen_and_registers_given(command, kernels):
    status, out, err = command(
        "record", "import", kernels, "-o", "t.parquet", "--launches", "0", "--registers", "99", "--json"
    )
    assert (status, err) == (0, "")
    assert json.loads(out)["launches"][0]["registers_per_thread"] == 99
    status, _, err = command("record", "import", kernels, "-o", "t.parquet", "--launches", "5")
    assert status == 2
    assert err.endswith("launches = 5: 5: the program has launches 0 to 0\n")


def test_what_an_import_takes_the_place_of_is_reported(command, kernels):
    outs = [command("record", "import", kernels, "-o", "t.parquet")[1].splitlines()[0] for _ in range(2)]
    assert outs[1] == f"{outs[0]}; it replaces the existing file"


def test_an_imported_trace_is_exported_to_what_import_reads(command, kernels):
    assert command("record", "import", kernels, "-o", "t.parquet")[0] == 0
    status, out, _ = command("record", "export", "t.parquet", "-o", "out")
    assert (status, out) == (0, "out: 1 kernel, 3 instructions of warps\n")
    assert command("record", "import", "out/kernelslist.g", "-o", "u.parquet")[0] == 0
    assert load_trace("u.parquet").info.digest == load_trace("t.parquet").info.digest
    status, _, err = command("record", "export", "t.parquet", "-o", "out")
    assert status == 2
    assert "out: is not empty" in err
