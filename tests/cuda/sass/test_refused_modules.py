"""A module that the assembler refuses: its kernels run as PTX, and the reason is the assembler's."""

from simtmm.cuda.compilers import compile_source
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.machine_function import machine_function
from tests.cuda.compilers.conftest import needs_machine_code

SOURCE = """
extern "C" __global__ void newer(unsigned* out, float x)
{
    asm("cvt.rz.bf16x2.f32 %0, %1, %1;" : "=r"(*out) : "f"(x));
}
extern "C" __global__ void plain(unsigned* out) { *out = 1; }
"""


@needs_machine_code
def test_the_assemblers_complaint_is_the_reason():
    linked = LinkedModule([compile_source(SOURCE, architecture=75)])
    for name in ("newer", "plain"):
        machine, why = machine_function(KernelFunction(linked, name))
        assert machine is None
        assert "ptxas: Feature '.bf16x2' requires .target sm_80 or higher" in why
        assert "\n" not in why
