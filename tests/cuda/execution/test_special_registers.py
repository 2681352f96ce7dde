"""Every special register that PTX's manual lists is read, as wide as it is."""

import numpy as np
import pytest

from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx import parse_module
from tests.cuda.execution.kernels import Faulted, kernel, run

AXES = [f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid",
                                       "cluster_nctaid") for axis in "xyzw"]  # fmt: skip
OF_32 = [
    *AXES, "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%lanemask_eq", "%lanemask_le", "%lanemask_lt",
    "%lanemask_ge", "%lanemask_gt", "%clock", "%clock_hi", "%globaltimer_lo", "%globaltimer_hi", "%cluster_ctarank",
    "%cluster_nctarank", "%total_smem_size", "%aggr_smem_size", "%dynamic_smem_size",
    *(f"%reserved_smem_offset_{name}" for name in ("begin", "end", "cap", "0", "1")),
    *(f"%pm{number}" for number in range(8)), *(f"%envreg{number}" for number in range(32)),
]  # fmt: skip
OF_64 = ["%clock64", "%globaltimer", "%gridid", "%current_graph_exec", *(f"%pm{number}_64" for number in range(8))]


def module(bits, name):
    return parse_module(
        f".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {{ .reg .b64 %p; "
        f".reg .b{bits} %x; ld.param.u64 %p, [out]; mov.u{bits} %x, {name}; st.global.u{bits} [%p], %x; ret; }}"
    )


@pytest.mark.parametrize(("bits", "name"), [(32, name) for name in OF_32] + [(64, name) for name in OF_64])
def test_it_can_be_read(bits, name):
    assert Program(module(bits, name), "k").assembly()


PLACES = ("begin", "0", "1", "end", "cap")
RESERVED = f""".reg .b32 %x; .reg .b32 %y; .shared .b8 own[100];
{" ".join(f"mov.u32 %x, %reserved_smem_offset_{p}; st.global.u32 [%p0+{4 * n}], %x;" for n, p in enumerate(PLACES))}
mov.u32 %x, %total_smem_size; st.global.u32 [%p0+20], %x; mov.u32 %x, %dynamic_smem_size; st.global.u32 [%p0+24], %x;
mov.u32 %x, %reserved_smem_offset_end; mov.u32 %y, 77; st.shared.u32 [%x+OFFSET], %y; ld.shared.u32 %y, [%x+OFFSET];
st.global.u32 [%p0+28], %y; st.shared.u8 [own], %y;"""


def test_the_systems_part_of_shared_memory_lies_behind_the_kernels_own():
    found = np.zeros(8, np.uint32)
    run(kernel(RESERVED.replace("OFFSET", "-4"), 1), "k", [found])
    begin, first, second, end, cap, total, dynamic, stored = found.tolist()
    assert (first, end, cap, stored) == (begin, begin + cap, 1024, 77)
    assert (total, dynamic) == (100, 0)
    assert begin >= total
    assert begin + 288 <= second <= end - 288  # what cooperative groups keep there for 1,024 threads


def test_it_ends_where_it_says():
    with pytest.raises(Faulted, match="1"):
        run(kernel(RESERVED.replace("OFFSET", "0"), 1), "k", [np.zeros(8, np.uint32)])
