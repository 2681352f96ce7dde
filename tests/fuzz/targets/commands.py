"""Command lines: words, and files that they name."""

import json

from simtmm.machine import units
from tests.fuzz.bounds import check_line
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
    "machines new": [["x", "--family", "ada", "--sms", "10", "--clock", "1e9", "--bandwidth", "1e11", "--l2", "4MiB"]],
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
    "machines new": ["--family", "--sms", "--clock", "--bandwidth", "--measured-bandwidth", "--latency", "--cores",
                     "--threads", "--l1", "--l2", "--shared", "--registers", "--blocks", "--capability", "--set",
                     "--name", "--json", "-o"],
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


def write_files(folder):
    """Files of several kinds, which command lines name."""
    write(folder)
    (folder / "w.json").write_text(json.dumps({"blocks": [{"warps": [[["compute", 3], ["load", [1, 2]]]]}]}))
    (folder / "s.py").write_text("import sys\nprint(len(sys.argv))\n")
    (folder / "k.ptx").write_text(PTX)
    (folder / "l.toml").write_text(LAUNCHES)
    (folder / "t.csv").write_text("kernel,machine,seconds\nstream,gtx280,1e-3\n")
    (folder / "t.json").write_text('[{"kernel": "stream", "machine": "gtx280", "seconds": 1}]')


def check_ending(code, out, err):
    """Fail unless a command ended with its answer, or with one line of text, which this gives."""
    assert code in (0, 1, 2)
    lines = [each for each in err.splitlines() if each.startswith("simtmm: error: ")]
    assert "Traceback" not in err
    if code != 2 or (out or err).lstrip().startswith("Usage"):
        return ""
    assert len(lines) == 1
    line = lines[0].removeprefix("simtmm: error: ")
    check_line(line)
    return line
