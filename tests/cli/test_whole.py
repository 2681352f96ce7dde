"""What commands print, as a whole: every number, word and column of some runs on machines that don't change.

`python -m tests.cli.test_whole` writes the outputs anew (tests/golden/outputs), where they are meant to differ.
"""

import contextlib
import io
import json
import re
import shlex
import sys
import tempfile

import pytest

from simtmm.__main__ import main
from simtmm.engine.fast.launches import launch
from tests.whole import OUTPUTS, ROOT, comparable

COMMANDS = {
    "run": "run -m gtx280",
    "run-of-stride": "run copy -p pattern=stride -p stride=4 -m gtx480",
    "explain": "run transpose --lines -m gtx280",
    "predict-algorithm": "paper predict merge -p n=4096 -m gtx280",
    "predict-kernel": "run copy --models-only -m gtx480",
    "crossover": "sweep crossover apsp-johnson-array apsp-johnson-heap -p m=100000 -m gtx280",
    "zigzag": "sweep zigzag copy -m gtx280",
    "threads": "sweep threads copy -m gtx480",
    "advise": "tune copy -m gtx280",
    "compare": "sweep compare copy -m gtx280 -m gtx480",
    "diff": "diff copy copy -m gtx280 --machine-b gtx480",
    "machine": "machines gtx280",
    "kernel": "kernels gemm",
    "run-h100": "run gemm -m h100-sxm --engine fast",
    "run-barrel": "run hashing -m cray-xmt --engine fast",
    "run-counts": "run bfs -m gtx480 --by line --counts --engine fast",
    "run-checked": "run transpose -m v100 --check racecheck --engine fast",
    "run-sampled": "run copy -m gtx480 -p n=1048576 --sample auto --error 5% --engine fast",
    "explain-h100": "run reduce --lines -m h100-sxm",
    "predict-v100": "run transpose --models-only -m v100",
    "zigzag-gemm": "sweep zigzag gemm -m gtx480",
    "compare-amd": "sweep compare transpose -m v100 -m mi100",
    "diff-sizes": "diff gemm gemm -m gtx480 -p n=64",
    "sweep": "sweep copy --vary stride=1,4 -p pattern=stride -m gtx280 -j 1",
    "tune": "tune copy --over threads=64,128 -m gtx280 -j 1",
    "calibrate": f"machines calibrate --latency {ROOT}/tests/golden/v100_latency.csv -m v100",
    "figures-made": "paper reproduce ma-fig-4.9 ma-fig-4.12 ma-fig-5.3 ma-fig-6.1 rehman-fig-6.2a -j 1",
    "machine-amd": "machines mi300x",
    "equations": "paper equation",
    "figures": "paper reproduce --list",
}


def printed(words):
    """A command's standard output, its wide tables as wide as they like."""
    with (
        pytest.MonkeyPatch.context() as patched,
        contextlib.redirect_stdout(io.StringIO()) as output,
        tempfile.TemporaryDirectory() as folder,
    ):
        patched.chdir(folder)
        patched.setattr(sys, "argv", ["simtmm", *shlex.split(words)])
        patched.setenv("COLUMNS", "160")
        patched.setattr(launch, "is_compiled", lambda *_: True)  # or the engine depends on what ran before
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 0, words
    if "--json" in words:
        return json.dumps(comparable(json.loads(output.getvalue())), indent=1) + "\n"
    return re.sub(r"[ \t]+$", "", output.getvalue().replace(str(ROOT), "ROOT"), flags=re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_report_says_what_it_said(nothing_kept, name):
    assert printed(COMMANDS[name]) == (OUTPUTS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_document_has_what_it_had(nothing_kept, name):
    assert printed(f"{COMMANDS[name]} --json") == (OUTPUTS / f"{name}.json").read_text(encoding="utf-8")


if __name__ == "__main__":
    OUTPUTS.mkdir(exist_ok=True)
    for name, words in COMMANDS.items():
        (OUTPUTS / f"{name}.txt").write_text(printed(words), encoding="utf-8")
        (OUTPUTS / f"{name}.json").write_text(printed(f"{words} --json"), encoding="utf-8")
