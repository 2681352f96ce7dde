"""Whatever stands on the command line: exit status 0, 1 or 2, and one line for what is wrong."""

import json

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from simtmm.__main__ import main
from simtmm.machine import units
from tests.examples import examples
from tests.fuzz.bounds import bounded, check_line
from tests.study.programs import write

WORDS = [
    "nan", "inf", "-inf", "1e308", "-1", "0", "1", "2", "1e400", "9" * 30, "9" * 5000, "0x" + "f" * 5000, "", "none",
    "true", "[1]", "{a=1}", "[[[[", "'", '"', "a b", "\udcff", "\n", "1\nname='x'", "<script>", "../x", "/dev/null",
    "/dev/zero", ".", "x.parquet", "x.toml", "-x", "--json", "%s", "{}", "*", "fifo", "1:3", "1:3:log:3", "a=b", "=",
    "1e-308:1e308:log:3", "x" * 5000, "a." * 500 + "a", "\x1b[2J", "gtx280", "x0.5", "72MiB", "2147483647",
    "auto", "3%", "all", "racecheck,initcheck", "memcheck,", "written", "ptx",
]  # fmt: skip
PROGRAMS = ["traced.parquet", "w.json", "list-ranking", "merge-sort", "t.csv", "t.json", "small.toml", "no.cu"]
AS_LAUNCHED = ["--grid", "1", "--block", "32", "--arg", "zeros:float32:64", "--arg", "64"]
PTX = """.version 8.4
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [a];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd3, %rd2, %rd3;
    st.global.u32 [%rd3], %r1;
    ret;
}
"""
LAUNCHES = """source = "k.ptx"
[arrays]
a = "zeros:float32:64"
[[launch]]
grid = 1
block = 32
arguments = ["a", 64]
"""
FITTING = {  # what each command is mostly given
    "run": [["traced.parquet"], ["w.json"], ["s.py"], ["k.ptx", *AS_LAUNCHED], ["l.toml"]],
    "record": [["k.ptx", *AS_LAUNCHED, "-o", "r.parquet"], ["l.toml", "-o", "r.parquet"], ["s.py", "-o", "r.parquet"]],
    "predict": [["list-ranking", "--param", "n=1000"], ["merge-sort", "--param", "n=1000"], ["traced.parquet"]],
    "crossover": [["list-ranking", "merge-sort", "--param", "n=1000"], ["list-ranking", "fft"]],
    "zigzag": [["traced.parquet", "--blocks", "1:8"], ["stream"]],
    "sweep": [["list-ranking", "--vary", "n=10:1000:log:3"], ["traced.parquet", "--vary", "memory.latency=1:3"]],
    "compare": [["traced.parquet"]],
    "threads": [["traced.parquet"]],
    "machines": [["small.toml"], ["gtx280"], []],
    "kernels": [["stream"], []],
    "report": [["t.csv"], ["w.json"]],
    "calibrate": [["--latency", "t.csv"]],
    "import": [["t.csv"]],
    "export": [["traced.parquet", "-o", "out"]],
    "equation": [["bloom-fit"], ["apsp-fit", "-p", "T=4"]],
    "fit": [["t.csv"]],
    "diff": [["traced.parquet"], ["traced.parquet", "w.json"]],
    "explain": [["traced.parquet"], ["list-ranking"]],
    "no-command": [[]],
}
KEYS = [*sorted(units()), "n", "T", "memory", "a.b"]
OPTIONS = {
    "run": ["--set", "--machine", "--engine", "--timeline", "--param", "-o", "--json", "--grid", "--block", "--arg",
            "--shared", "--kernel", "--compile", "--sample", "--error", "--check", "--error-exitcode",
            "--sample-blocks", "--launch", "--skip", "--count", "--top", "--by", "--"],
    "record": ["--param", "-o", "--json", "--grid", "--block", "--arg", "--kernel", "--check", "--error-exitcode",
               "--sample-blocks", "--launch", "--skip", "--count", "--most-events", "--races", "--as", "--machine"],
    "predict": ["--set", "--machine", "--param", "--model", "--constant", "--versus", "--over", "--sweep", "--latex"],
    "crossover": ["--set", "--machine", "--param", "--over", "--threads", "--variant-a", "--variant-b"],
    "zigzag": ["--set", "--machine", "--param", "--blocks", "--picture", "--as"],
    "sweep": ["--vary", "--link", "--draw", "--samples", "--seed", "--where", "--compute", "--set", "--dry-run"],
    "compare": ["--set", "--machine", "--model", "--measured", "--csv", "--reference"],
    "threads": ["--tolerance", "--set", "--machine"],
    "machines": ["--set", "--json", "--table", "-o"],
    "kernels": ["--json", "--kernel-path"],
    "report": ["--axis", "--title", "--where", "--across"],
    "calibrate": ["--latency", "--stream", "--gpu", "--machine", "--name"],
    "import": ["--format", "-o"],
    "export": ["--binary-version", "--json"],
    "equation": ["-p", "--machine", "--json"],
    "fit": ["--json"],
    "diff": ["--set", "--machine"],
    "explain": ["--set", "--machine"],
    "no-command": [],
}  # fmt: skip
ALONE = {"--races", "--json", "--latex", "--table", "--dry-run", "--csv"}
PAIRS = {"--set", "--param", "--vary", "--link", "--draw", "--constant", "--arg"}


@st.composite
def command_lines(draw):
    """A command, something to do it with, and some options."""
    command = draw(st.sampled_from(list(OPTIONS)))
    other = st.lists(st.sampled_from([*PROGRAMS, *PROGRAMS, *WORDS]), max_size=2)
    line = [command, *draw(other if draw(st.integers(0, 4)) == 0 else st.sampled_from(FITTING[command]))]
    for _ in range(draw(st.integers(0, 3)) if OPTIONS[command] else 0):
        option = draw(st.sampled_from(OPTIONS[command]))
        word = draw(st.sampled_from([*WORDS, *PROGRAMS]))
        if option in PAIRS:
            word = f"{draw(st.sampled_from(KEYS))}={word}"
        line += [option] if option in ALONE else [option, word]
    if command == "sweep":
        line += ["-j", "1", "--store", "s.sqlite"]
    return line


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with files of several kinds, in which nothing is kept from one run to another."""
    write(tmp_path)
    (tmp_path / "w.json").write_text(json.dumps({"blocks": [{"warps": [[["compute", 3], ["load", [1, 2]]]]}]}))
    (tmp_path / "s.py").write_text("import sys\nprint(len(sys.argv))\n")
    (tmp_path / "k.ptx").write_text(PTX)
    (tmp_path / "l.toml").write_text(LAUNCHES)
    (tmp_path / "t.csv").write_text("kernel,machine,seconds\nstream,gtx280,1e-3\n")
    (tmp_path / "t.json").write_text('[{"kernel": "stream", "machine": "gtx280", "seconds": 1}]')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIMTMM_KERNEL_PATH", "")
    return tmp_path


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(line=command_lines())
def test_a_command_ends_with_its_answer_or_one_line(here, monkeypatch, capfd, line):
    for store in here.glob("s.sqlite*"):
        store.unlink()
    monkeypatch.setattr("sys.argv", ["simtmm", *line])
    with bounded(), pytest.raises(SystemExit) as caught:
        main()
    out, err = capfd.readouterr()
    assert caught.value.code in (0, 1, 2)
    lines = [each for each in err.splitlines() if each.startswith("simtmm: error: ")]
    assert "Traceback" not in err
    if caught.value.code == 2 and not (out or err).lstrip().startswith("Usage"):
        assert len(lines) == 1
        check_line(lines[0].removeprefix("simtmm: error: "))


def test_memory_that_ends_is_one_line(here, monkeypatch, capfd):
    monkeypatch.setattr("sys.argv", ["simtmm", "machines", "gtx280"])
    monkeypatch.setattr("simtmm.machine.load.read_tables", lambda path: bytearray(1 << 62))
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert capfd.readouterr().err.startswith("simtmm: error: memory does not suffice (")


def test_an_option_that_holds_more_keys_than_one_is_a_text(here, monkeypatch, capfd):
    """What stood behind the end of the line was left out without a word."""
    monkeypatch.setattr("sys.argv", ["simtmm", "machines", "gtx280", "--set", "memory.latency=1\nname='x'"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert "memory.latency = \"1\\nname='x'\": must be a number" in capfd.readouterr().err
