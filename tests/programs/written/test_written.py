"""Programs in the manner of public collections: several files, input files, arguments, streams, graphs, libraries of
headers, textures of every shape, each with a check of its own. None knows of simtmm.
"""

import os
from pathlib import Path

import pytest

from simtmm import load_machine
from simtmm.programs.program import cuda_program

HERE = Path(__file__).parent
PROGRAMS = {
    "btree.cu": ("a100-80", []),
    "hotspot3d.cu": ("v100", ["48", "6", "30"]),
    "cg.cu": ("h100-sxm", []),
    "dct.cu": ("a100-80", []),
    "fdtd3d.cu": ("a100-80", ["--dimx=64", "--timesteps=3"]),
    "finance.cu": ("a100-80", []),
    "lavamd.cu": ("a100-80", ["-boxes1d", "3"]),
    "sort.cu": ("a100-80", ["20000"]),
    "streams.cu": ("h100-sxm", []),
    "warps.cu": ("a100-80", []),
    "needle/needle.cu": ("rtx-a6000", ["-n", "256", "-r", "2", "--file", "path.txt"]),
    "srad/srad.cu": ("v100", ["10", "0.5", "image.pgm", "out.pgm"]),
    "stencil2d.cu": ("a100-80", ["-w", "200", "--repeat", "20"]),
    "halves.cu": ("h100-sxm", ["16384", "10"]),
    "groups.cu": ("a100-80", ["4096", "5"]),
    "random.cu": ("v100", ["8"]),
    "intrinsics.cu": ("rtx-4090", ["2"]),
    "heat/main.cu": ("h100-sxm", ["120", "60", "8"]),
    "overlap.cu": ("a100-80", ["16384"]),
    "bezier.cu": ("a100-80", ["32", "5"]),
    "lookback.cu": ("a100-80", ["16384", "2"]),
    "thrust.cu": ("a100-80", ["1024", "1"]),
}
MORE = {"needle/needle.cu": ["needle/util.cpp"], "heat/main.cu": ["heat/kernels.cu", "heat/reference.cpp"]}
OPTIONS = ["-O3", "-std=c++17", "--extended-lambda", "-I", str(HERE / "include"), "-lm"]
LINKED = ["-rdc=true", "-Xcompiler", "-fopenmp", "-lgomp"]  # of a program of several files of device code
DAILY = 2 if os.environ.get("SIMTMM_COLLECTION") is None else len(PROGRAMS)


@pytest.mark.parametrize("name", list(PROGRAMS)[:DAILY])
def test_program_ends_with_a_report_and_passes_its_check(name, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    machine, words = PROGRAMS[name]
    files = [HERE / each for each in (name, *MORE.get(name, []))]
    options = [*OPTIONS, *(LINKED if name.startswith("heat/") else [])]
    outcome = cuda_program(files, words, options).run(load_machine(machine))
    printed = capfd.readouterr()
    assert outcome.status == 0, printed.err
    assert "PASS" in printed.out.upper()
    assert outcome.trace is not None
    assert outcome.recorded + outcome.not_run == outcome.launched
