"""Occupancy: B_a = min(Z / Z_B, R / (R_T T_r), B_max, T_max / T_r), each rounded down; dissertation, Eq (5.2)."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from simtmm.errors import MachineError
from simtmm.machine import Machine
from simtmm.model.occupancy import occupancy
from simtmm.trace.schema import TraceLaunch

# A core group of the dissertation's Table 5.4: 1536 threads, 48 warps, 8 blocks, 32768 registers, 48 KB.
FERMI = Machine.from_dict(
    {
        "name": "fermi",
        "cores": {"groups": 15, "cores_per_group": 32, "warp_width": 32, "threads_per_core": 48},
        "memory": {"latency": 512, "chunk_words": 32},
        "limits": {"blocks_per_group": 8},
        "resources": {"registers": 32768, "local_memory": 49152, "threads_per_block": 1024},
    }
)


def launch(threads, registers=1, local_memory=0):
    return TraceLaunch("kernel", (4, 1, 1), (threads, 1, 1), registers, local_memory)


@pytest.mark.parametrize(
    ("threads", "registers", "local_memory", "bound", "blocks", "warps"),
    [
        (256, 20, 12289, "local memory", 3, 24),  # 49152 / 12289 = 3.9997
        (256, 43, 4096, "registers", 2, 16),  # 32768 / 11008 = 2.98
        (64, 20, 4096, "blocks", 8, 16),
        (320, 20, 4096, "threads", 4, 40),  # 1536 / 320 = 4.8
        (33, 1, 0, "blocks", 8, 16),  # a warp of one thread counts whole
        (1024, 32, 49152, "local memory", 1, 32),
    ],
)
def test_the_resource_that_allows_fewest_blocks_binds(threads, registers, local_memory, bound, blocks, warps):
    made = occupancy(FERMI, launch(threads, registers, local_memory))
    assert (made.bound, made.active_blocks, made.warps, made.most_warps) == (bound, blocks, warps, 48)
    assert made.fraction == warps / 48


def test_the_terms_are_those_of_the_equation_and_the_warps():
    made = occupancy(FERMI, launch(256, 20, 4096))
    assert made.terms == {"local memory": 12, "registers": 6, "blocks": 8, "threads": 6, "warps": 6}
    assert made.to_dict() == {
        "active_blocks": 6, "bound": "registers", "terms": made.terms, "warps": 48, "most_warps": 48, "fraction": 1.0,
    }  # fmt: skip


def test_a_resource_that_is_not_used_is_no_limit():
    made = occupancy(FERMI, launch(256, 0, 0))
    assert (made.terms["local memory"], made.terms["registers"]) == (None, None)


def test_whole_warps_may_allow_fewer_blocks_than_threads_do():
    made = occupancy(FERMI.replace({"limits.blocks_per_group": None}), launch(33))
    assert made.terms["threads"] == 46  # 1536 / 33
    assert (made.bound, made.active_blocks) == ("warps", 24)  # 48 / 2


def test_all_dimensions_of_a_block_count():
    made = occupancy(FERMI, TraceLaunch("kernel", (1, 1, 1), (8, 8, 4), 20, 0))
    assert made == occupancy(FERMI, launch(256, 20))


@pytest.mark.parametrize(
    ("threads", "registers", "local_memory", "words"),
    [
        (1025, 1, 0, "resources.threads_per_block"),
        (1024, 33, 0, "resources.registers"),
        (32, 1, 49153, "resources.local_memory"),
    ],
)
def test_a_block_that_does_not_fit_is_refused_with_the_resource(threads, registers, local_memory, words):
    with pytest.raises(MachineError, match=words):
        occupancy(FERMI, launch(threads, registers, local_memory))


@given(st.integers(1, 1024), st.integers(0, 64), st.integers(0, 49152))
def test_the_active_blocks_fit_and_one_more_does_not(threads, registers, local_memory):
    assume(registers * threads <= 32768)
    blocks = occupancy(FERMI, launch(threads, registers, local_memory)).active_blocks

    def fits(number):
        warps = -(-threads // 32)
        return (
            number * local_memory <= 49152
            and number * registers * threads <= 32768
            and number * threads <= 1536
            and number * warps <= 48
            and number <= 8
        )

    assert fits(blocks)
    assert not fits(blocks + 1)


def test_a_block_of_more_warps_than_a_group_holds_is_refused():
    with pytest.raises(MachineError):
        occupancy(FERMI.replace({"limits.warps_per_group": 3}), launch(128))
