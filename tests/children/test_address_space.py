"""A limit on a process's addresses (`ulimit -v`) is told in one line, and never as a kernel's mistake."""

import subprocess

import pytest

from tests.children.kinds import COMMAND, LAUNCHES, PROGRAM, environment
from tests.cuda.compilers.conftest import needs_nvrtc

FILES = {
    "program.cu": PROGRAM,
    "kernel.cu": 'extern "C" __global__ void k(int* x) { x[threadIdx.x] += 1; }\n',
    "files.toml": LAUNCHES,
}


@needs_nvrtc
@pytest.mark.parametrize(
    ("kibibytes", "words"),
    [
        (200_000, ("machines",)),
        (700_000, ("run", "files.toml", "-m", "rtx-a6000")),
        (3_000_000, ("run", "program.cu")),
    ],
    ids=lambda entry: str(entry),
)
def test_a_limit_is_named_in_one_line(kibibytes, words, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    command = ["sh", "-c", f'ulimit -v {kibibytes}; exec "$@"', "sh", *COMMAND, *words]
    own = environment(tmp_path, SIMTMM_CACHE=str(tmp_path / "cache"))
    done = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("simtmm: error: ")
    assert "out of memory" in line
    assert "ulimit -v" in line
