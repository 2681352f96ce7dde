"""Every special register that PTX's manual lists is read, as wide as it is."""

import pytest

from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx import parse_module

AXES = [f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid",
                                       "cluster_nctaid") for axis in "xyz"]  # fmt: skip
OF_32 = [
    *AXES, "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%lanemask_eq", "%lanemask_le", "%lanemask_lt",
    "%lanemask_ge", "%lanemask_gt", "%clock", "%clock_hi", "%globaltimer_lo", "%globaltimer_hi", "%cluster_ctarank",
    "%cluster_nctarank", "%total_smem_size", "%aggr_smem_size", "%dynamic_smem_size",
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
