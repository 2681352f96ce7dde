"""Loads of a launch's environment by the size of a cluster: for a block that is no cluster's, at one place."""

import pytest

from simtmm import run
from simtmm.cuda.sass.environment import with_plain_environment
from simtmm.cuda.sass.listing import parse_listing
from tests.cuda.compilers.conftest import needs_machine_code

SIZE, PRODUCT, LOAD = "CS2R.32 R8, SR_CgaSize", "IMAD R8, R8, -0xa0, RZ", "LDC R9, c[0x0][R8+0x258]"
UNIFORM = "R2UR UR11, R8", "LDCU UR11, c[0x0][UR11+0x254]"


def changed(*rows):
    """Instructions that are others afterwards: opcodes and operands."""
    text, address = '\t.section\t.text.k,"ax",@progbits\n', 0
    for row in rows:
        if row.endswith(":"):
            text += f"{row}\n"
        else:
            text += f"        /*{address:04x}*/ {row} ; /* 0x{0:016x} */\n /* 0x{0:016x} */\n"
            address += 16
    before = parse_listing(text, "k")
    after = with_plain_environment(before)
    pairs = zip(before.instructions, after.instructions, strict=True)
    return [str(new.operands[-1]) for old, new in pairs if old != new]


def constant(offset):
    return f"Constant(bank=0, offset={offset}, register=None, negative=False, absolute=False, inverted=False, part='')"


NOTHING = "Word(text='SRZ')"


@pytest.mark.parametrize(
    ("rows", "offsets"),
    [
        ((SIZE, PRODUCT, LOAD), [0x258]),
        ((SIZE, PRODUCT, *UNIFORM), [0x254]),
        ((SIZE, "NOP", PRODUCT, "MOV R7, R8", "LDC.64 R4, c[0x0][R7+0x28c]", "EXIT"), [0x28C]),
        ((SIZE, PRODUCT, LOAD, "MOV R8, R2", "LDC R9, c[0x0][R8+0x388]"), [0x258]),  # that one reads a parameter
    ],
)
def test_loads_by_the_size_alone_are_of_one_place(rows, offsets):
    assert changed(*rows) == [NOTHING, *map(constant, offsets)]


@pytest.mark.parametrize(
    "rows",
    [
        (LOAD,),
        ("CS2R.32 R8, SR_CLOCKLO", PRODUCT, LOAD),
        (SIZE, PRODUCT, LOAD, "IADD3 R2, R8, R3, RZ"),  # whose sum would be another
        (SIZE, "IADD3 R2, R8, R3, RZ", PRODUCT, LOAD),
        (SIZE, PRODUCT, "LDC R9, c[0x0][R8+0x380]"),
        (SIZE, PRODUCT, "STG.E desc[UR4][R8.64], R3"),
    ],
)
def test_anything_else_is_left_as_it_is(rows):
    assert changed(*rows) == []


def test_what_comes_from_elsewhere_is_not_known():
    assert changed(SIZE, PRODUCT, ".L_x_1:", LOAD) == []
    assert changed(SIZE, PRODUCT, "LDC.64 R8, c[0x0][0x380]", LOAD) == []


TOGETHER = """
#include <cooperative_groups.h>
__global__ void k(float* a, int rounds)
{
    auto grid = cooperative_groups::this_grid();
    int i = grid.thread_rank();
    for (int r = 0; r < rounds; r++) {
        a[i] += 0.5f * a[(i + 37) % 256];
        grid.sync();
    }
}
int main()
{
    float* a;
    cudaMalloc(&a, 1024);
    cudaMemset(a, 0, 1024);
    int rounds = 3;
    void* arguments[] = {&a, &rounds};
    if (cudaLaunchCooperativeKernel((void*)k, dim3(4), dim3(64), arguments)) return 1;
    return cudaDeviceSynchronize();
}
"""


@needs_machine_code
@pytest.mark.parametrize("machine", ["t4", "h100-sxm", "b200"])
def test_blocks_that_meet_across_the_grid_are_machine_code(tmp_path, machine):
    (tmp_path / "together.cu").write_text(TOGETHER)
    (schedule,) = run(str(tmp_path / "together.cu"), machine).schedules
    assert (schedule.instructions, schedule.fault) == ("machine code", "")
    assert schedule.compared_blocks == 4
