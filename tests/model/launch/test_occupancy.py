"""Occupancy: B_a = min(Z / Z_B, R / (R_T T_r), B_max, T_max / T_r), each rounded down; dissertation, Eq (5.2)."""

# ruff: noqa: N803, N806 - the letters of the equations

import numpy as np
import pytest
import sympy
from hypothesis import assume, given
from hypothesis import strategies as st

from simtmm import load_machine
from simtmm.errors import MachineError, ModelError
from simtmm.machine import Machine
from simtmm.machine.residency import blocks_by_shared_memory, least_shared_memory
from simtmm.model.launch.occupancy import active_blocks, block_occupancy, occupancies, occupancy, shared_memory_for
from simtmm.trace.schema import TraceLaunch
from tests.model.ma_chapters import published, table_5_4

# A core group of the dissertation's Table 5.4: 1536 threads, 48 warps, 8 blocks, 32768 registers, 48 KB.
FERMI = Machine.from_dict(
    {
        "name": "fermi",
        "cores": {"groups": 15, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 48},
        "memory": {"latency": 512, "chunk_words": 32},
        "limits": {"blocks_per_group": 8},
        "resources": {"registers": 32768, "shared_memory": 49152, "threads_per_block": 1024},
    }
)

# One of GA10x: 48 warps, 16 blocks, 100 KB, registers in four files of 16384
AMPERE = load_machine("a40")


def launch(threads, registers=1, shared_memory=0):
    return TraceLaunch("kernel", (4, 1, 1), (threads, 1, 1), registers, shared_memory)


@pytest.mark.parametrize(
    ("threads", "registers", "shared_memory", "bound", "blocks", "warps"),
    [
        (256, 20, 12289, "shared memory", 3, 24),  # 49152 / 12289 = 3.9997
        (256, 43, 4096, "registers", 2, 16),  # 32768 / 11008 = 2.98
        (64, 20, 4096, "blocks", 8, 16),
        (320, 20, 4096, "threads", 4, 40),  # 1536 / 320 = 4.8
        (33, 1, 0, "blocks", 8, 16),  # a warp of one thread counts whole
        (1024, 32, 49152, "threads", 1, 32),  # a block of fewer registers and without shared memory fits once, too
        (512, 32, 24576, "shared memory", 2, 32),  # and so do registers allow 2, and threads 3
        (192, 20, 0, "blocks", 8, 48),  # threads and registers allow 8 as well
    ],
)
def test_the_resource_that_allows_fewest_blocks_binds(threads, registers, shared_memory, bound, blocks, warps):
    result = occupancy(FERMI, launch(threads, registers, shared_memory))
    assert (result.bound, result.active_blocks, result.warps, result.most_warps) == (bound, blocks, warps, 48)
    assert result.fraction == warps / 48


def test_the_terms_are_those_of_the_equation_and_the_warps():
    result = occupancy(FERMI, launch(256, 20, 4096))
    assert result.terms == {"shared memory": 12, "registers": 6, "blocks": 8, "threads": 6, "warps": 6}
    assert result.to_dict() == {
        "active_blocks": 6, "bound": "threads", "terms": result.terms, "warps": 48, "most_warps": 48, "fraction": 1.0,
    }  # fmt: skip


def test_a_resource_that_is_not_used_is_no_limit():
    result = occupancy(FERMI, launch(256, 0, 0))
    assert (result.terms["shared memory"], result.terms["registers"]) == (None, None)


def test_whole_warps_may_allow_fewer_blocks_than_threads_do():
    result = occupancy(FERMI.replace({"limits.blocks_per_group": None}), launch(33))
    assert result.terms["threads"] == 46  # 1536 / 33
    assert (result.bound, result.active_blocks) == ("warps", 24)  # 48 / 2


def test_all_dimensions_of_a_block_count():
    result = occupancy(FERMI, TraceLaunch("kernel", (1, 1, 1), (8, 8, 4), 20, 0))
    assert result == occupancy(FERMI, launch(256, 20))


@pytest.mark.parametrize(
    ("threads", "registers", "shared_memory", "words"),
    [
        (1025, 1, 0, "resources.threads_per_block"),
        (1024, 33, 0, "resources.registers"),
        (32, 1, 49153, "resources.shared_memory"),
    ],
)
def test_a_block_that_does_not_fit_is_refused_with_the_resource(threads, registers, shared_memory, words):
    with pytest.raises(MachineError, match=words):
        occupancy(FERMI, launch(threads, registers, shared_memory))


@given(st.integers(1, 1024), st.integers(0, 64), st.integers(0, 49152))
def test_the_active_blocks_fit_and_one_more_does_not(threads, registers, shared_memory):
    assume(registers * threads <= 32768)
    blocks = occupancy(FERMI, launch(threads, registers, shared_memory)).active_blocks

    def fits(number):
        warps = -(-threads // 32)
        return (
            number * shared_memory <= 49152
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


# Resources that are handed out in units


@pytest.mark.parametrize(
    ("threads", "registers", "shared_memory", "bound", "blocks"),
    [
        (256, 32, 0, "threads", 6),  # 1024 registers a warp, 16 warps a file: 64 / 8 = 8
        (256, 33, 0, "threads", 6),  # 1056 -> 1280 a warp, 12 a file, 48 warps as well; as printed 65536 / 8448 = 7.8
        (256, 41, 0, "registers", 5),  # 1312 -> 1536, 10 a file, 40 warps; as printed 65536 / 10496 = 6.2
        (96, 250, 0, "registers", 2),  # 8000 -> 8192, 2 a file, 8 warps of 3 a block
        (48, 120, 0, "registers", 8),  # 3840, 4 a file, 16 warps of 2 a block; as printed 65536 / 5760 = 11
        (256, 1, 33664, "shared memory", 2),  # 33664 = 263 * 128, and 1024: 34688; without these 3
        (128, 1, 24576, "shared memory", 4),  # 25600 is a quarter of 102400
        (128, 1, 24577, "shared memory", 3),
        (128, 1, 101376, "shared memory", 1),
    ],
)
def test_units_and_what_is_reserved_by_hand(threads, registers, shared_memory, bound, blocks):
    result = occupancy(AMPERE, launch(threads, registers, shared_memory))
    assert (result.bound, result.active_blocks) == (bound, blocks)


def test_a_block_that_its_reserve_leaves_no_room_for_is_refused():
    with pytest.raises(MachineError, match=r"101377 bytes of shared memory, and 1024 reserved for it, does"):
        occupancy(AMPERE, launch(128, 1, 101377))
    with pytest.raises(MachineError, match=r"65536 registers, a warp's in units of 256 in one of 3 files, does not"):
        occupancy(AMPERE.replace({"resources.register_files": 3}), launch(1024, 64))


@given(
    st.integers(1, 1024), st.integers(1, 255), st.integers(1, 4), st.sampled_from([None, 1, 100, 256]),
    st.integers(1, 5), st.integers(1, 3000),
)  # fmt: skip
def test_units_never_let_more_blocks_in(threads, registers, files, unit, shared_unit, reserved):
    changes = {
        "resources.register_unit": unit, "resources.register_files": files,
        "resources.shared_memory_unit": shared_unit * 100, "resources.shared_memory_reserved": reserved,
    }  # fmt: skip
    printed_limits = FERMI.block_limits(threads, registers, 40 * registers)
    limits = FERMI.replace(changes).block_limits(threads, registers, 40 * registers)
    assert limits["shared memory"] <= printed_limits["shared memory"]
    assert limits["registers"] <= printed_limits["registers"]
    assert {k: v for k, v in limits.items() if k not in ("shared memory", "registers")} == {
        k: v for k, v in printed_limits.items() if k not in ("shared memory", "registers")
    }


@given(st.integers(1, 15), st.integers(1, 512), st.integers(1, 2048))
def test_the_least_claim_in_units_gives_no_more_blocks_and_a_byte_less_does(blocks, unit, reserved):
    machine = AMPERE.replace({"resources.shared_memory_unit": unit, "resources.shared_memory_reserved": reserved})
    claim = least_shared_memory(machine, blocks)
    assert blocks_by_shared_memory(machine, claim) <= blocks
    assert claim == 1 or blocks_by_shared_memory(machine, claim - 1) > blocks


# The printed equations


def printed(T_r, R_T, Z_B):
    table = table_5_4()
    letters = {letter: table[letter] for letter in ("Z", "R", "B_max", "P", "Q", "T_maxMP")}
    return active_blocks(T_r=T_r, R_T=R_T, Z_B=Z_B, **letters)


@published("ma.table5.4")
def test_the_shipped_machine_is_the_documents(item):
    machine = load_machine("gtx480")
    assert machine.processors == item["P"]
    assert machine.cores.cores_per_group == item["Q"]
    assert machine.cores.warp_width == item["W"]
    assert machine.resources.registers == item["R"]
    assert machine.resources.threads_per_block == item["T_maxB"]
    assert machine.resources.shared_memory == item["Z_kb"][1] * 1024
    assert machine.memory.l1.sets * machine.memory.l1.ways * machine.chunk_bytes == item["C_s_kb"][1] * 1024
    assert machine.cores.max_threads_per_core * machine.cores.cores_per_group == item["T_maxMP"]
    assert machine.limits.blocks_per_group * machine.cores.groups == item["B_max"]


@published("ma.eq5.2")
def test_the_documents_launches_have_one_active_block(item):
    for threads in item["threads_per_block"]:
        for working_set in item["working_set_kb"]:
            assert printed(threads, 20, working_set * 1024) == item["B_a"]


@pytest.mark.parametrize(
    ("threads", "registers", "shared_memory", "blocks"),
    [(256, 20, 12289, 3), (256, 43, 4096, 2), (64, 20, 4096, 8), (320, 20, 4096, 4), (256, 0, 0, 6), (1024, 33, 0, 0)],
)
def test_each_term_of_the_printed_equation_by_hand(threads, registers, shared_memory, blocks):
    assert printed(threads, registers, shared_memory) == blocks


def test_the_printed_equation_is_a_formula_too():
    Z, Z_B, R, R_T, T_r, B_max, P, Q, T_maxMP = letters = sympy.symbols("Z Z_B R R_T T_r B_max P Q T_maxMP", positive=1)
    floor = sympy.floor
    result = active_blocks(*letters)
    assert result == sympy.Min(floor(Z / Z_B), floor(R / (R_T * T_r)), floor(B_max * Q / P), floor(T_maxMP / T_r))


def test_occupancy_is_active_blocks_over_the_most_a_group_may_have():
    assert block_occupancy(1, 120, 480, 32) == 1 / 8  # Eq. (5.1); profilers say 1024 / 1536 for T_r = 1024
    with pytest.raises(ModelError, match=r"^occupancy: B_max: must be at least P / Q"):
        block_occupancy(1, [120, 14], 480, 32)


@pytest.mark.parametrize(
    ("letter", "value", "allowed"),
    [
        ("T_r", 0, "whole and at least 1"),
        ("T_r", 32.5, "whole and at least 1"),
        ("R_T", -1, "whole and at least 0"),
        ("Z", 0, "above 0"),
        ("P", float("nan"), "whole and at least 1"),
    ],
)
def test_a_value_outside_the_domain_is_refused_by_name(letter, value, allowed):
    letters = {"Z": 1, "Z_B": 1, "R": 1, "R_T": 1, "T_r": 1, "B_max": 1, "P": 1, "Q": 1, "T_maxMP": 1, letter: value}
    with pytest.raises(ModelError, match=rf"^B_a: {letter} = {value:.12g}: must be {allowed} \("):
        active_blocks(**letters)


# Many launches at once


@given(
    st.sampled_from([FERMI, AMPERE]),
    st.lists(st.tuples(st.integers(1, 1100), st.integers(0, 255), st.integers(0, 110000)), min_size=1, max_size=20),
)
def test_arrays_of_launches_hold_what_each_launch_does(machine, launches):
    result = occupancies(machine, *np.array(launches).T)
    for index, (threads, registers, shared_memory) in enumerate(launches):
        try:
            one = occupancy(machine, launch(threads, registers, shared_memory))
        except MachineError:
            assert result.active_blocks[index] == 0
        else:
            assert (result.active_blocks[index], result.bound[index]) == (one.active_blocks, one.bound)


@pytest.mark.parametrize(
    ("threads", "registers", "shared_memory", "resource"),
    [(1025, 1, 0, "threads per block"), (1024, 33, 0, "registers"), (32, 1, 49153, "shared memory")],
)
def test_what_refuses_a_block_is_named(threads, registers, shared_memory, resource):
    result = occupancies(FERMI, threads, registers, shared_memory)
    assert (result.active_blocks, result.bound) == (0, resource)


def test_a_machine_without_limits_holds_what_its_threads_allow():
    free = FERMI.replace({"limits.blocks_per_group": None, "resources": {}})
    assert occupancies(free, [1024, 64], 255, 10**9).active_blocks.tolist() == [1, 24]


# Claiming shared memory so that fewer blocks are active


@pytest.mark.parametrize(("wanted", "claimed"), [(4, 12288), (3, 12289), (2, 16385), (1, 24577)])
def test_the_least_claim_for_fewer_blocks_by_hand(wanted, claimed):
    assert shared_memory_for(FERMI, launch(32, 20, 12288), wanted) == claimed  # of 49152 bytes


@given(st.integers(1, 1024), st.integers(0, 49152), st.integers(1, 8))
def test_a_claim_gives_the_wanted_blocks_and_a_byte_less_gives_more(threads, shared_memory, wanted):
    possible = occupancy(FERMI, launch(threads, 1, shared_memory)).active_blocks
    assume(wanted < possible)
    claimed = shared_memory_for(FERMI, launch(threads, 1, shared_memory), wanted)
    assert occupancy(FERMI, launch(threads, 1, claimed)).active_blocks == wanted
    assert occupancy(FERMI, launch(threads, 1, claimed - 1)).active_blocks > wanted


@pytest.mark.parametrize("wanted", [0, 5, 1.5, True])
def test_blocks_that_a_group_does_not_hold_cannot_be_claimed(wanted):
    with pytest.raises(ModelError, match=r"^shared memory: B_a = .*: must be whole and at least 1 and at most 4"):
        shared_memory_for(FERMI, launch(32, 20, 12288), wanted)


def test_a_machine_without_shared_memory_has_none_to_claim():
    with pytest.raises(ModelError, match=r"machine fermi .* has no resources\.shared_memory"):
        shared_memory_for(FERMI.replace({"resources.shared_memory": None}), launch(32), 1)


def test_a_number_of_blocks_between_two_claims_is_refused():
    with pytest.raises(ModelError, match=r"^shared memory: B_a = 4: no claim divides 10 bytes that way"):
        # 10 // 2 = 5, 10 // 3 = 3
        shared_memory_for(FERMI.replace({"resources.shared_memory": 10}), launch(32, 1, 2), 4)
