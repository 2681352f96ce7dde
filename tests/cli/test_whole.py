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
from pathlib import Path

import pytest

from simtmm.__main__ import main
from simtmm.engine.fast.launches import launch
from simtmm.files import KERNEL_MEMORY, KERNEL_PATH, KERNEL_TIMEOUT, MACHINE_PATH
from tests.whole import OUTPUTS, ROOT, comparable

MEASURED = f"{ROOT}/traces/measured"
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
    # With flags that few use:
    "run-launches": "run scan -m gtx480 -p n=8192 --by launch --top 2 --start cold --counts --no-what-if --engine fast",
    "run-arrays": "run gemm -m gtx480 --by array --top 2 --no-what-if --engine fast",
    "run-reasons": "run histogram -m v100 --by reason --no-what-if --engine fast",
    "run-contention": "run atomic-update -m gtx480 --contention --no-what-if --engine fast",
    "run-reference": "run copy -p n=2048 -m v100 --engine reference --by reason --no-what-if",
    "run-checked-by-all": "run scan -m v100 -p n=1024 --check memcheck,racecheck,initcheck,synccheck --no-what-if",
    "run-sampled-launches": "run bfs -m gtx480 --sample auto --error 20% --no-what-if --engine fast",
    "run-amd": "run reduce -m mi300x --by launch --no-what-if --engine fast",
    "run-trace": f"run {ROOT}/traces/list-ranking-wyllie.parquet -m gtx280 --by launch --top 3 --no-what-if "
    "--engine fast",
    "run-beside": "run copy -m gtx480 -p n=4096 --nsight ncu.csv --no-what-if --engine fast",
    "run-sampled-square": "run transpose -m v100 -p n=1024 --sample auto --error 5% --no-what-if --engine fast",
    "run-sampled-rows": "run mvt -m v100 -p n=512 --sample auto --error 5% --no-what-if --engine fast",
    "run-sampled-graph": "run pagerank -m gtx480 --sample auto --error 10% --no-what-if --engine fast",
    "run-sampled-loop": "run looped-memory-access -m gtx480 --sample auto --error 10% --no-what-if --engine fast",
    "predict-blocks": "run scan -m v100 -p n=8192 --models-only --active-blocks 3",
    "predict-latex": "run reduce -m gtx480 --models-only --latex --active-blocks 2",
    "predict-constants": "run scan -m gtx480 -p n=4096 --models-only --unit s --constant a1=2e-9 --constant a0=1e-6 "
    "--measured 3e-6 --factor 3",
    "predict-one": "run gemm -m h100-sxm --models-only --model tmm",
    "predict-variant": "paper predict merge -p n=4096 -m gtx280 --variant printed-4.33 --threads 8 --measured 1e-3 "
    "--factor 4",
    "diff-parameters": "diff copy copy -m gtx480 --set-b memory.latency=800 --param-b pattern=stride "
    "--param-b stride=2 --no-what-if",
    "diff-launches": "diff scan reduce -m v100 --no-what-if",
    "gate": "diff --baseline perf.json kernels.toml ;; diff --baseline perf.json slower.toml --fail-above 5%",
    "gate-markdown": "diff --baseline perf.json kernels.toml ;; diff --baseline perf.json slower.toml --markdown",
    "tune-two": "tune copy --over threads=64,128 --over memory.latency=300,500 --minimise seconds --objective "
    "memory.latency --where 'threads * 2 <= 256' -m gtx480 --top 2 -j 1",
    "sweep-drawn": "sweep copy --draw memory.latency=100:400:log --samples 3 --seed 5 --compute tmm -m gtx480 -j 1",
    "sweep-linked": "sweep copy --link 'memory.latency=200,400;threads=64,128' -p n=1024 -m gtx480 -j 1",
    "sweep-where": "sweep copy --vary memory.latency=100:300:linear:2 --vary threads=32:128:times:2 --where "
    "'threads > 32' -p n=1024 -m gtx480 -j 1",
    "sweep-sampled": "sweep copy --vary n=262144,1048576 --sample auto --error 5% -m gtx480 -j 1",
    "crossover-merge": "sweep crossover merge-sort odd-even-sort -m gtx480",
    "zigzag-reduce": "sweep zigzag reduce -m v100",
    "threads-transpose": "sweep threads transpose -m gtx280",
    "compare-two": "sweep compare copy reduce -m gtx480 -m v100 -j 1",
    "compare-simulated": "sweep compare copy -m gtx480 --model tmm --reference simulated",
    "machines-compare": "machines compare gtx280 gtx480 mi100 --set memory.latency=500",
    "machines-new": "machines new mine --family ada --sms 40 --clock 2.0GHz --bandwidth 500GB/s --latency 600 "
    "--l1 128KiB --l2 32MiB --shared 100KiB --capability 8.9",
    "machine-changed": "machines gtx480 --set memory.latency=x0.5 --set cores.groups=3",
    "calibrate-caches": f"machines calibrate --caches {MEASURED}/l1_bandwidth.csv --gpu v100 -m v100",
    "calibrate-strides": f"machines calibrate --strides {MEASURED}/l1_strides.csv --gpu a100 -m a100-80",
    "calibrate-chase": f"machines calibrate --latency {MEASURED}/latency_curves.csv --gpu mi210 -m mi210",
    "rules": "kernels rules",
    "rule": "kernels rules oldest",
    "rules-compared": "kernels compare copy -m gtx480 -p n=4096",
    "kernels": "kernels",
    "claims": "paper claims",
    "algorithms": "paper",
}
TEXT_ALONE = {  # documents are long, or have none, or all digits of what was fitted
    "kernels", "run-checked-by-all", "run-launches", "gate-markdown", "calibrate-strides", "calibrate-caches",
}  # fmt: skip
KERNELS = 'machine = "gtx480"\n[copies]\nsource = "copy"\nparams = {{ n = {n} }}\n[sums]\nsource = "reduce"\n'
FILES = {
    "kernels.toml": KERNELS.format(n=4096),
    "slower.toml": KERNELS.format(n=8192),
    "ncu.csv": '"ID","Kernel Name","Grid Size","Block Size","gpu__time_duration.sum","dram__bytes_read.sum",'
    '"smsp__inst_executed.sum"\n"","","","","us","byte","inst"\n'
    '"0","copy_offset(const float *, float *, int)","(32, 1, 1)","(128, 1, 1)","3.5","16384","1500"\n',
}


def printed(words):
    """A command's standard output, its wide tables as wide as they like; of several, between ;;, the last one's."""
    with (
        pytest.MonkeyPatch.context() as patched,
        contextlib.redirect_stdout(io.StringIO()) as output,
        tempfile.TemporaryDirectory() as folder,
    ):
        patched.chdir(folder)
        patched.setenv("COLUMNS", "160")
        for variable in (KERNEL_PATH, MACHINE_PATH, KERNEL_TIMEOUT, KERNEL_MEMORY):  # which options of others have set
            patched.setenv(variable, "")
            patched.delenv(variable)
        patched.setattr(launch, "is_compiled", lambda *_: True)  # or the engine depends on what ran before
        for name, text in FILES.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        for each in words.split(" ;; "):
            output.seek(0)
            output.truncate()
            patched.setattr(sys, "argv", ["simtmm", *shlex.split(each)])
            with pytest.raises(SystemExit) as ended:
                main()
            assert ended.value.code == ("slower.toml" in each), words
    if "--json" in words:
        return json.dumps(comparable(json.loads(output.getvalue())), indent=1) + "\n"
    return re.sub(r"[ \t]+$", "", output.getvalue().replace(str(ROOT), "ROOT"), flags=re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_report_says_what_it_said(nothing_kept, name):
    assert printed(COMMANDS[name]) == (OUTPUTS / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in TEXT_ALONE])
def test_a_document_has_what_it_had(nothing_kept, name):
    assert printed(f"{COMMANDS[name]} --json") == (OUTPUTS / f"{name}.json").read_text(encoding="utf-8")


if __name__ == "__main__":
    OUTPUTS.mkdir(exist_ok=True)
    for name, words in COMMANDS.items():
        (OUTPUTS / f"{name}.txt").write_text(printed(words), encoding="utf-8")
        if name in TEXT_ALONE:
            continue
        (OUTPUTS / f"{name}.json").write_text(printed(f"{words} --json"), encoding="utf-8")
