"""Command lines that are refused, as whole lines: what is wrong, and what is allowed.

tests/golden/refused_commands.txt has what each says. `python -m tests.cli.test_refused_commands` writes it anew, where
it is meant to differ: read it before you keep it.
"""

import contextlib
import io
import json
import shlex
import sys
import tempfile
from pathlib import Path

import pytest

from simtmm.__main__ import main
from simtmm.files import KERNEL_MEMORY, KERNEL_PATH, KERNEL_TIMEOUT, MACHINE_PATH
from tests.whole import ROOT

FILE = ROOT / "tests" / "golden" / "refused_commands.txt"
FILES = {
    "w.json": json.dumps({"blocks": [{"warps": [[["compute", 4], ["load", [0, 1]]]]}]}),
    "s.cu": "__global__ void scale(float* x) { x[threadIdx.x] *= 2; }",
    "s.py": "print(1)\n",
    "times.csv": "kernel,machine,seconds,n\ncopy,gtx480,1e-3,1024\ncopy,gtx480,2e-3,2048\n",
    "rule.py": "def youngest(ready, group):\n    return ready[-1]\n",
    "study.toml": '[study]\nkernel = "copy"\nmachine = "gtx480"\n[axes]\nn = [1024, 2048]\n',
    "empty.toml": "",
    "kernels.toml": '[[kernel]]\nsource = "copy"\nmachine = "gtx480"\n',
}
COMMANDS = (
    "run coppy", "run w.json -p n=4", "run w.json --models-only", "run copy -p m=4", "run copy -p n=x",
    "run copy -p n=0", "run copy -p n", "run copy -p n=4 -p n=5", "run copy -p pattern=wild", "run copy w.json",
    "run copy --grid 4", "run copy --arg n=4", "run s.cu --block 32 --grid 0", "run s.cu --block 32",
    "run s.cu --grid 1 --block 2048", "run s.cu --grid 1 --block 1,1,1,1", "run s.cu --grid 1 --block 32 --arg y=4",
    "run s.cu --grid 1 --block 32 --kernel nosuch", "run s.py --grid 1", "run study.toml", "run copy -o x.txt",
    "run copy --timeline t.csv", "run copy --timeline-groups 99 --timeline t.json", "run copy --timeline-from 5",
    "run copy --timeline t.json --timeline-from 9 --timeline-to 3", "run copy --timeline t.json --timeline-groups a",
    "run copy --by colour", "run copy --sample some", "run copy --error 3%", "run copy --sample auto --error 0",
    "run copy --sample auto --error x", "run copy --sample auto --error 200%",
    "run copy --sample auto --engine reference", "run copy --sample auto --timeline t.json", "run copy --check colours",
    "run w.json --check racecheck", "run copy --contention --sample auto", "run copy --models-only --engine fast",
    "run copy --model tmm", "run copy --models-only --active-blocks 0", "run copy --models-only --unit hours",
    "run copy --models-only --factor 0", "run copy --models-only --constant a1",
    "run copy --models-only --constant b=3", "run copy --latex", "run copy --nsight gone.csv", "run copy --launch 0-",
    "run copy -m gtx480 --set memory", "run copy -m gtx480 --set memory.latency=",
    "run copy -m gtx480 --set memory.latency=x", "run copy -m gtx480 --set memory.latency=-1",
    "run copy -m gtx480 --set memory.latency=x0", "run copy -m gtx480 --set memory.latnecy=4",
    "run copy -m gtx480 --set cores.groups=0", "run copy -m gtx480 --set cores.groups=none",
    "run copy -m gtx480 --set scheduling.scheduler=newest", "run copy -m empty.toml", "machines calibrate -m gtx480",
    "machines calibrate --latency gone.csv -m gtx480", "machines calibrate --latency times.csv -m gtx480",
    "sweep copy --vary n", "sweep copy --vary n=", "sweep copy --vary nosuch=1,2",
    "sweep copy --vary n=1024,2048 --vary n=4,5", "sweep copy --vary n=1024 --draw n=1:9", "sweep copy --draw n=1024",
    "sweep copy --vary n=1024 --samples 5", "sweep copy --vary n=1024 --where 'n <'",
    "sweep copy --vary n=1024 --where 'm < 4'", "sweep copy --vary n=1024 --compute nosuch",
    "sweep copy --vary n=1024 --export x.txt", "sweep copy --vary n=1024 -j 0",
    "sweep copy --link 'n=1024,2048;threads=32'", "sweep copy --vary n=1024 --cluster x", "sweep gone.toml",
    "sweep empty.toml", "sweep study.toml --vary n=4", "sweep report gone.sqlite",
    "sweep compare copy --measured gone.csv", "sweep compare copy --picture x.txt",
    "sweep compare copy --reference nosuch", "sweep crossover apsp-johnson-array apsp-johnson-heap --over nosuch",
    "sweep threads copy --tolerance 0", "sweep threads w.json", "sweep zigzag w.json", "tune w.json",
    "tune copy --over nosuch=1,2", "tune copy --over threads", "tune copy --sampler best", "tune copy --trials 5",
    "tune copy --seed 5", "tune copy --minimise nosuch", "tune copy --minimise 'cycles +'",
    "tune copy --minimise cycles --minimise registers --minimise threads", "tune copy --error 0",
    "tune copy --where 'cycles <'", "diff copy", "diff copy coppy", "diff copy copy --param-b m=4", "diff w.json coppy",
    "diff copy copy -p x=4", "diff w.json copy -p n=4",
    "diff copy copy --set-b memory=4", "diff --baseline gone.json kernels.toml", "diff --baseline x.json gone.toml",
    "diff --baseline x.json empty.toml", "diff --fail-above 5% copy copy",
    "diff --baseline x.json kernels.toml --fail-above x", "diff --baseline x.json kernels.toml --fail-above -5%",
    "paper predict merge", "paper predict merge -p n=x", "paper predict merge -p n=0", "paper predict merge -p m=4",
    "paper predict merge -p n=4 --variant nosuch", "paper predict merge -p n=4 --threads 0",
    "paper predict merge -p n=4 --measured 0", "paper equation hit-rate -p m=x", "paper equation hit-rate -p nosuch=4",
    "record w.json", "record copy -o x.txt", "record s.cu --grid 1 --block 32 --param n=4", "explore copy --state x",
)  # fmt: skip


def said(words):
    """A command's exit status and what it says on standard error; of what it prints nothing."""
    with (
        pytest.MonkeyPatch.context() as patched,
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()) as errors,
        tempfile.TemporaryDirectory() as folder,
    ):
        patched.chdir(folder)
        patched.setenv("COLUMNS", "160")
        for variable in (KERNEL_PATH, MACHINE_PATH, KERNEL_TIMEOUT, KERNEL_MEMORY):
            patched.setenv(variable, "")
            patched.delenv(variable)
        for name, text in FILES.items():
            Path(name).write_text(text, encoding="utf-8")
        patched.setattr(sys, "argv", ["simtmm", *shlex.split(words)])
        with pytest.raises(SystemExit) as ended:
            main()
        left = sorted({path.name for path in Path().iterdir()} - FILES.keys())
    told = errors.getvalue().replace(folder, "FOLDER").replace(str(ROOT), "ROOT").rstrip("\n")
    return f"{ended.value.code} {told}" + (f" (leaves {', '.join(left)})" if left else "")


def lines():
    return {words: said(words) for words in COMMANDS}


def known():
    return dict(line.split("\t") for line in FILE.read_text(encoding="utf-8").splitlines())


def test_a_refused_command_says_what_it_said():
    assert lines() == known()


def test_each_says_one_line_and_leaves_nothing():
    assert list(known()) == list(COMMANDS)
    for words, told in known().items():
        assert told.startswith("2 simtmm: error: "), words
        assert "(leaves " not in told, words


if __name__ == "__main__":
    FILE.write_text("".join(f"{words}\t{told}\n" for words, told in lines().items()), encoding="utf-8")
