"""Which variants a kernel has, without compiling any: what is changed, where, and at which sizes of blocks."""

from types import ModuleType

import pytest

from simtmm import load_machine
from simtmm.analysis.compiled_variants.variants import FAST_MATH, variants_of
from simtmm.kernel import Kernel, Launch
from simtmm.trace.schema import TraceLaunch

SOURCE = """\
#include <math.h>
__global__ void scaled(const float* x, float* y, int n)
{
    for (int k = 0; k < n; ++k)
        y[k] = 2 * x[k];
}
"""
MACHINE = load_machine("h100-sxm")
RESTRICTED = SOURCE.replace("float* x, float* y", "float* __restrict__ x, float* __restrict__ y")
UNROLLED = SOURCE.replace("    for (", '    _Pragma("unroll 8") for (')


def kernel_of(folder, source=SOURCE, options=(), name="k.cu", others=()):
    paths = [folder / each for each in (name, *others)]
    for path in paths:
        path.write_text(source)
    return Kernel("k", folder, {}, "", ModuleType("host"), options=tuple(options), sources=tuple(paths))


def launch_of(block=(128, 1, 1), grid=(64, 1, 1), registers=16, spilled=0):
    return TraceLaunch("scaled", grid, block, registers, 0, spilled, spilled)


def changes(*given, **others):
    return [each.change for each in variants_of(*given, **others)]


def test_each_says_what_to_write_and_where(tmp_path):
    found = list(variants_of(kernel_of(tmp_path), MACHINE, (launch_of(registers=100),), line=5))
    blocks = MACHINE.active_blocks(128, 100, 0)
    bounded = SOURCE.replace("__global__ void ", f"__global__ void  __launch_bounds__(128, {blocks + 1}) ")
    assert [(each.change, each.at, each.text, each.options) for each in found] == [
        ("restrict", ("k.cu", 0), RESTRICTED, ()),
        ("unroll", ("k.cu", 4), UNROLLED, ()),
        ("launch bounds", ("k.cu", 0), bounded, ()),
        ("fast math", ("k.cu", 0), "", (FAST_MATH,)),
        ("block size", ("", 0), "", ()),
        ("block size", ("", 0), "", ()),
    ]
    assert [each.words for each in found][2:] == [
        f"give the kernel __launch_bounds__(128, {blocks + 1}): registers allow {blocks} blocks at a time now",
        "compile with -use_fast_math: division, square roots and functions are approximated",
        "launch blocks of 64 threads instead of 128", "launch blocks of 256 threads instead of 128",
    ]  # fmt: skip


def test_what_is_so_already_is_no_variant(tmp_path):
    source = UNROLLED.replace("float* x, float* y", "float* __restrict__ x, float* __restrict__ y")
    kernel = kernel_of(tmp_path, source, ["-std=c++17", "--use_fast_math"])
    assert changes(kernel, MACHINE, (launch_of(block=(32, 2, 1)),), line=4) == []
    assert changes(kernel_of(tmp_path, SOURCE), MACHINE, (launch_of(block=(32, 2, 1)),)) == ["restrict", "fast math"]


def test_bounds_are_taken_away_where_registers_are_spilled_for_them(tmp_path):
    bounded = SOURCE.replace("__global__ void ", "__global__ void __launch_bounds__(128, 16) ")
    (found,) = [
        each
        for each in variants_of(kernel_of(tmp_path, bounded), MACHINE, (launch_of(registers=100, spilled=4),))
        if each.change == "launch bounds"
    ]
    words = "take __launch_bounds__ away: registers are spilled for it"
    assert (found.words, found.at) == (words, ("k.cu", 0))
    assert found.text == SOURCE.replace("__global__ void ", "__global__ void  ")
    assert "launch bounds" not in changes(kernel_of(tmp_path, bounded), MACHINE, (launch_of(registers=100),))


def test_the_launch_with_most_threads_says_what_registers_allow(tmp_path):
    few, many = launch_of(registers=16, grid=(2, 1, 1)), launch_of(registers=100, grid=(64, 1, 1))
    for launches in ((few, many), (many, few)):
        assert "launch bounds" in changes(kernel_of(tmp_path), MACHINE, launches)
    small = launch_of(registers=100, grid=(2, 1, 1))
    assert "launch bounds" not in changes(kernel_of(tmp_path), MACHINE, (small, launch_of(registers=16)))


@pytest.mark.parametrize(
    ("blocks", "sizes"),
    [
        ([(128, 64)], [64, 256]),
        ([(32, 64)], [64]),  # half a warp is none
        ([(64, 64)], [32, 128]),
        ([(512, 64)], [256, 1024]),
        ([(514, 64)], [257]),  # more than 1024
        ([(65, 64)], [130]),  # and half a thread is none
        ([(128, 63)], [64]),  # blocks in pairs
        ([(128, 64), (48, 64)], [256]),  # 24 of the other
        ([(128, 64), (1024, 64)], [64]),
        ([(128, 64), (128, 3)], [64]),
    ],
)
def test_blocks_are_halved_and_doubled_within_a_warp_and_what_a_block_may_have(tmp_path, blocks, sizes):
    launches = tuple(launch_of(block=(threads, 1, 1), grid=(grid, 1, 1)) for threads, grid in blocks)
    found = [each for each in variants_of(kernel_of(tmp_path), MACHINE, launches) if each.change == "block size"]
    assert [each.words.split()[3] for each in found] == [str(size) for size in sizes]


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("of", ["block", "grid"])
def test_of_more_than_one_axis_blocks_stay_as_they_are(tmp_path, axis, of):
    shape = {"block": [128, 1, 1], "grid": [64, 1, 1]}
    shape[of][axis] = 2
    launches = (launch_of(), launch_of(tuple(shape["block"]), tuple(shape["grid"])))
    assert "block size" not in changes(kernel_of(tmp_path), MACHINE, launches)


def test_as_many_threads_are_launched_in_blocks_of_another_size(tmp_path):
    class Host(ModuleType):
        def launches(self, parameters, memory):
            yield Launch("scaled", (memory, parameters), 64, 128)
            yield Launch("scaled", (), (6, 1, 1), (32, 1, 1), shared_memory_bytes=40)

    kernel = kernel_of(tmp_path)
    kernel = type(kernel)("k", tmp_path, {}, "", Host("host"), sources=kernel.sources)
    found = {
        each.words.split()[3]: [
            (launch.arguments, launch.grid, launch.block, launch.shared_memory_bytes)
            for launch in each.host.launches(7, 8)
        ]
        for each in variants_of(kernel, MACHINE, (launch_of(),))
        if each.host
    }
    assert found == {
        "64": [((8, 7), (128, 1, 1), (64, 1, 1), 0), ((), (12, 1, 1), (16, 1, 1), 40)],
        "256": [((8, 7), (32, 1, 1), (256, 1, 1), 0), ((), (3, 1, 1), (64, 1, 1), 40)],
    }


def test_a_changed_source_lies_in_a_folder_of_its_own_and_finds_what_it_includes(tmp_path):
    kernel, folder = kernel_of(tmp_path, options=["-O3"]), tmp_path / "own"
    folder.mkdir()
    made = {
        each.change: each.kernel(kernel, folder)
        for each in variants_of(kernel, MACHINE, (launch_of(),))
        if each.change != "block size"
    }
    assert made["restrict"].options == ("-O3", f"-I{tmp_path.resolve()}")
    assert [path.read_text() for path in made["restrict"].sources] == [RESTRICTED]
    assert made["restrict"].sources == (folder / "k.cu",)
    assert (made["fast math"].options, made["fast math"].sources) == (("-O3", FAST_MATH), kernel.sources)
    assert made["restrict"].host is made["fast math"].host is kernel.host


def test_kernels_of_more_files_or_none_of_cuda_have_no_variants(tmp_path):
    launches = (launch_of(),)
    assert changes(kernel_of(tmp_path, others=["more.cu"]), MACHINE, launches) == []
    assert changes(kernel_of(tmp_path, name="k.ptx"), MACHINE, launches) == []
    assert changes(kernel_of(tmp_path), MACHINE, ()) == []
