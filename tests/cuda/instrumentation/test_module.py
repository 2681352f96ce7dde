"""PTX that records: the text is as it was beside, and assemblers take it."""

import subprocess

import pytest

from simtmm.cuda.build import build
from simtmm.cuda.compilers.wheels import find_tool
from simtmm.cuda.instrumentation.module import instrumented
from simtmm.cuda.linked import LinkedModule
from simtmm.errors import PtxError
from tests.recorder.gpu_kernels import PLAIN

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
KERNEL = """.visible .entry f(.param .u64 to)
{
.reg .pred %p; .reg .f32 %f<4>; .reg .b64 %d;
ld.param.u64 %d, [to];
$again:
ld.global.f32 %f0, [%d]; mul.f32 %f1, %f0, %f0; @%p add.ftz.f32 %f2, %f1, 0f3F800000; add.rz.f32 %f3, %f2, %f2;
@!%p st.global.f32 [%d+4], %f3;
@%p bra $again;
ret;
}
"""


def plain(tmp_path, what, architecture):
    (tmp_path / "k.cu").write_text(PLAIN[what].source)
    return build([tmp_path / "k.cu"], architecture).units[0].ptx


def test_what_stood_there_stands_there_in_its_order():
    found = iter(instrumented(HEAD + KERNEL).ptx.replace(".rn", ""))
    assert all(letter in found for letter in HEAD + KERNEL)


def test_places_are_those_of_a_recording_on_the_cpu():
    found = instrumented(HEAD + KERNEL)
    lines = found.ptx.splitlines()
    behind = [next(line for line in lines[at:] if "simtmm" not in line) for at in _ends(lines)]
    # A load, the work that waits for its value, a store of those threads whose guard says so, and the branch.
    assert [line.split(";")[0].strip() for line in behind] == [
        "ld.global.f32 %f0, [%d]", "mul.rn.f32 %f1, %f0, %f0", "@!%p st.global.f32 [%d+4], %f3", "@%p bra $again",
        "ret",
    ]  # fmt: skip
    assert (found.first, found.sites) == ({"f": 0}, 5)


def _ends(lines):
    return [at for at, line in enumerate(lines) if line.startswith("$simtmm_recorder_") and line.endswith(":")]


def test_who_a_thread_is_is_found_once_in_front_of_a_label_that_is_jumped_to():
    ptx = instrumented(HEAD + KERNEL.replace("ld.param.u64 %d, [to];\n", "")).ptx
    assert ptx.index("%laneid") < ptx.index("$again:")


def test_the_assembler_rounds_as_the_text_says():
    ptx = instrumented(HEAD + KERNEL).ptx
    for line in ("mul.rn.f32 %f1", "add.rn.ftz.f32 %f2", "add.rz.f32 %f3"):
        assert line in ptx


def test_a_block_may_have_as_many_threads_as_without():
    assert instrumented(HEAD + KERNEL).ptx.count(".maxntid 1024") == 1
    assert ".maxntid 1024" not in instrumented(HEAD + KERNEL.replace("\n{", "\n.maxntid 64, 2, 1\n{", 1)).ptx


def test_an_alias_is_the_function_that_it_names():
    functions = ".func g\n()\n{\nret;\n}\n.alias h, g;\n"
    found = instrumented(HEAD + functions + KERNEL)
    assert found.first["g"] == found.first["h"]
    assert found.ptx.count("%laneid") == 2


def test_ptx_that_is_too_old_is_refused():
    with pytest.raises(PtxError, match=r"\.version 6\.1: recording on a GPU needs PTX 6\.2 or later"):
        instrumented(HEAD.replace("8.0", "6.1") + KERNEL)


@pytest.mark.parametrize("architecture", [75, 120])
def test_the_assembler_takes_it(architecture, tmp_path):
    """A sample: all kernels for all architectures are `python -m tests.benchmarks.instrumented`."""
    pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")
    for what in list(PLAIN)[2:5]:
        path = tmp_path / "k.ptx"
        path.write_text(instrumented(plain(tmp_path, what, architecture)).ptx)
        command = [find_tool("ptxas"), f"-arch=sm_{architecture}", path, "-o", tmp_path / "k.cubin"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_addresses_are_asked_for_of_what_no_host_knows(tmp_path):
    pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")
    (tmp_path / "k.cu").write_text(
        "__constant__ int c[4]; __constant__ int unused[4]; __device__ int g[4]; extern __shared__ int d[];\n"
        "__global__ void f(int* a) {\n"
        "    __shared__ int s[4]; s[a[0]] = c[a[1]] + g[a[2]]; d[a[3]] = s[a[4]]; a[5] = d[a[6]];\n}"
    )
    linked: LinkedModule = build([tmp_path / "k.cu"], 75)
    found = instrumented(linked.units[0].ptx).symbols
    assert [(symbol.space, bool(symbol.function)) for symbol in sorted(found, key=lambda each: each.space)] == [
        ("const", False), ("shared", True), ("shared", False),
    ]  # fmt: skip
