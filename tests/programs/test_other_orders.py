"""What fails by its own judgement is run again with warps in other orders: a race that decides is said to be one."""

import json
from typing import NamedTuple

import pytest

from simtmm.cuda.disagreement.order_trial import OrderTrial
from simtmm.recorder.compiled import other_orders
from tests.scripts.conftest import called as called

pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")

KERNEL = """__global__ void reduce(const int* in, int* out, int n)
{
    __shared__ int sums[256];
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
    sums[threadIdx.x] = sum;
    BARRIER;
    if (threadIdx.x == 0) { int all = 0; for (int i = 0; i < 256; ++i) all += sums[i]; out[0] = all; }
}
"""
MAIN = """#include <cstdio>
int main()
{
    int n = 1024, *in, *out;
    cudaMallocManaged(&in, n * 4); cudaMallocManaged(&out, 4);
    for (int i = 0; i < n; ++i) in[i] = 1;
    reduce<<<1, 256>>>(in, out, n);
    cudaDeviceSynchronize();
    int status = *out == WANTED ? 0 : 3;
    cudaFree(in); cudaFree(out);
    return status;
}
"""
SCRIPT = '''import simtmm, sys
import numpy as np
kernel = simtmm.RawKernel(r"""extern "C" KERNEL""", "reduce")
out = np.zeros(1, np.int32)
kernel((1,), (256,), (np.ones(1024, np.int32), out, np.int32(1024)))
CHECK
'''
LAUNCHES = """source = "k.cu"
options = ["-DBARRIER=%s"]
[arrays]
in = "ones:int32:1024"
out = "zeros:int32:1"
[[launch]]
grid = 1
block = 256
arguments = ["in", "out", 1024]
[check]
out = "full:int32:1:%d"
"""
IN_REVERSE = (
    "launch 0 (reduce) leaves 1024 in out[0], where it left 128. A race is likely: --check racecheck looks for it"
)


class Done(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def program(tmp_path):
    (tmp_path / "reduce.cu").write_text(KERNEL + MAIN)

    def words(barrier="", wanted=1024, **more):
        flags = f"-DBARRIER='{barrier}' -DWANTED={wanted}"
        return ["run", str(tmp_path / "reduce.cu"), "--machine", "h100-sxm", "--no-what-if", "--build", flags]

    return words


def test_a_program_whose_race_decides_is_told_so_and_where(program, called):
    done = Done(*called(*program()))
    assert done.status == 3
    assert (
        f"The order of warps decides: in reverse order reduce.cu ends with exit status 0, and {IN_REVERSE}." in done.out
    )


def test_a_program_that_fails_in_every_order_is_told_that(program, called):
    done = Done(*called(*program("__syncthreads()", 7)))
    assert done.status == 3
    told = (
        "With warps in reverse order and in random order, reduce.cu ends with exit status 3 as well: no race was seen"
    )
    assert told in done.out
    assert "decides:" not in done.out


def test_a_program_that_passes_is_run_once(program, called):
    assert "order of warps" not in called(*program("__syncthreads()"))[1]


def test_the_document_has_what_was_tried(program, called):
    document = json.loads(called(*program(), "--json")[1])
    order = document["script"]["order"]
    assert order["decides"]
    (reverse,) = order["tried"]
    assert (reverse["order"], reverse["is_as_before"]) == ("descending", False)


def test_checks_that_look_for_races_need_no_hint(program, called):
    done = Done(*called(*program(), "--check", "racecheck"))
    assert "The order of warps" not in done.out + done.err


@pytest.mark.parametrize("check", ["assert out[0] == 1024", "sys.exit(int(out[0] != 1024))"])
def test_a_script_whose_race_decides_is_told_so(check, tmp_path, called):
    kernel = KERNEL.replace("BARRIER;", "").strip()
    (tmp_path / "s.py").write_text(SCRIPT.replace("KERNEL", kernel).replace("CHECK", check))
    done = Done(*called("run", str(tmp_path / "s.py"), "--machine", "h100-sxm", "--no-what-if"))
    assert done.status == 1
    assert f"The order of warps decides: in reverse order s.py ends with exit status 0, and {IN_REVERSE}" in (
        done.out + done.err
    )


@pytest.mark.parametrize("check", ["out.shap", "nothing()", "len(5)", "import nowhere", "raise NotImplementedError"])
def test_a_script_with_an_error_of_its_code_is_run_once(check, tmp_path, called):
    counted = f"with open({str(tmp_path / 'runs')!r}, 'a') as file: file.write('once ')\n{check}"
    kernel = KERNEL.replace("BARRIER;", "").strip()
    (tmp_path / "s.py").write_text(SCRIPT.replace("KERNEL", kernel).replace("CHECK", counted))
    done = Done(*called("run", str(tmp_path / "s.py"), "--machine", "h100-sxm", "--no-what-if"))
    assert done.status == 1
    assert (tmp_path / "runs").read_text() == "once "
    assert "order" not in done.err


@pytest.mark.parametrize(("package", "runs"), [("numba", 1), ("triton", 1), ("others", 2)])
def test_a_script_whose_kernel_a_framework_does_not_compile_is_run_once(package, runs, tmp_path, called):
    raised = f"with open({str(tmp_path / 'runs')!r}, 'a') as file: file.write('once ')\nclass Wrong(Exception): pass\n"
    raised += f"Wrong.__module__ = '{package}.errors'\nraise Wrong()"
    kernel = KERNEL.replace("BARRIER;", "").strip()
    (tmp_path / "s.py").write_text(SCRIPT.replace("KERNEL", kernel).replace("CHECK", raised))
    called("run", str(tmp_path / "s.py"), "--machine", "h100-sxm", "--no-what-if")
    assert (tmp_path / "runs").read_text() == "once " * runs


def test_a_kernel_whose_race_decides_is_told_so(tmp_path, called, monkeypatch):
    trials = []
    monkeypatch.setattr(other_orders, "OrderTrial", lambda order: trials.append(order) or OrderTrial(order))
    (tmp_path / "k.cu").write_text(KERNEL)
    (tmp_path / "k.toml").write_text(LAUNCHES % ("", 1024))
    done = Done(*called("run", str(tmp_path / "k.toml"), "--machine", "h100-sxm"))
    assert (done.status, trials) == (2, [other_orders.TRIED[0]])  # no other order is tried behind one that tells
    assert "wrong answer: out[0] is 128, should be 1024" in done.err
    assert f"The order of warps decides: in reverse order the answer is right, and {IN_REVERSE}" in done.err


def test_a_kernel_that_is_wrong_in_every_order_is_only_wrong(tmp_path, called, monkeypatch):
    trials = []
    monkeypatch.setattr(other_orders, "OrderTrial", lambda order: trials.append(order) or OrderTrial(order))
    (tmp_path / "k.cu").write_text(KERNEL)
    (tmp_path / "k.toml").write_text(LAUNCHES % ("__syncthreads()", 7))
    done = Done(*called("run", str(tmp_path / "k.toml"), "--machine", "h100-sxm"))
    assert "wrong answer: out[0] is 1024, should be 7 (1 elements are wrong)\n" in done.err
    assert trials == list(other_orders.TRIED)
