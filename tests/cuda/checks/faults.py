"""The kernels of faults.cu: what must be found in those with a fault; nothing may be in those called right_*."""

from functools import cache
from pathlib import Path

import numpy as np

from simtmm.cuda.checks.checker import Checker
from simtmm.cuda.checks.names import checks_of
from simtmm.cuda.compilers import compile_files
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule

SOURCE = Path(__file__).with_name("faults.cu")
BLOCKS, THREADS = 4, 64

RAW, WAR, WAW = "Potential RAW hazard", "Potential WAR hazard", "Potential WAW hazard"
WARP_RAW, WARP_WAR = (f"(Warp Level Programming) {each}" for each in (RAW, WAR))
UNWRITTEN = "Uninitialized __{}__ memory read"
IN_WARP, IN_BLOCK = "Divergent thread(s) in warp", "Divergent thread(s) in block"

# Of each fault: words of one finding, and the lines of source of its sides, counted from the kernel's own.
FAULTS = {
    "missing_barrier": (RAW, 2, 3),
    "missing_barrier_in_loop": (WAR, 6, 4),
    "double_buffer_of_one": (WAR, 6, 4),
    "barrier_of_the_warp_alone": (RAW, 2, 4),
    "fence_is_no_barrier": (RAW, 2, 4),
    "reduction_stops_too_early": (RAW, 5, 7),
    "neighbours_part": (WARP_RAW, 5, 6),
    "all_write_one": (WAW, 2, 2),
    "named_barrier_of_others": (WAR, 5, 3),
    "missing_syncwarp": (WARP_RAW, 3, 4),
    "warp_synchronous_reduction": (WARP_RAW, 6, 7),
    "syncwarp_of_half": (WARP_RAW, 3, 5),
    "missing_syncwarp_before_the_write": (WARP_WAR, 5, 6),
    "shuffle_between_write_and_read": (WARP_RAW, 2, 5),
    "ballot_between_write_and_read": (WARP_RAW, 2, 4),
    "vote_between_read_and_write": (WARP_WAR, 4, 5),
    "match_between_write_and_read": (WARP_RAW, 2, 4),
    "redux_between_write_and_read": (WARP_RAW, 2, 4),
    "active_mask_between_write_and_read": (WARP_RAW, 2, 4),
    "shuffle_between_write_and_read_of_global": (WARP_RAW, 1, 3),
    "compaction_without_syncwarp": (WARP_RAW, 4, 6),
    "one_sum_of_all_lanes": (WAW, 4, 4),
    "greatest_of_all_lanes": (WAW, 4, 4),
    "rounds_without_a_barrier": (WARP_RAW, 5, 5),
    "rounds_of_stores_without_a_barrier": (WAW, 3, 3),
    "histogram_without_atomics": (WARP_WAR, 4, 4),
    "atomic_against_plain": (WARP_RAW, 4, 5),
    "atomic_of_a_block_between_blocks": (WAW, 1, 1),
    "blocks_write_one": (WAW, 1, 1),
    "blocks_add_to_one": (RAW, 1, 1),
    "blocks_read_their_neighbours": (RAW, 2, 4),
    "last_block_without_fence": (RAW, 3, 7),
    "last_block_with_a_fence_of_the_block": (RAW, 3, 8),
    "last_block_before_all_have_written": (RAW, 2, 8),
    "chain_of_flags_without_fence": (RAW, 10, 8),
    "spin_lock_not_taken_by_all": (WAW, 5, 5),
    "grid_barrier_without_the_second_half": (RAW, 2, 12),
    "flag_of_a_block_without_fence": (RAW, 7, 13),
    "acquire_without_release": (RAW, 3, 8),
    "copy_without_a_wait": (RAW, 2, 5),
    "copy_read_by_its_own_thread": (RAW, 2, 3),
    "copy_waited_for_behind_the_barrier": (RAW, 2, 6),
    "copy_waited_for_without_a_barrier": (RAW, 2, 4),
    "copy_of_the_latest_group_not_waited_for": (RAW, 4, 9),
    "copy_before_all_have_read": (WAR, 7, 4),
    "store_over_a_copy": (WAW, 2, 3),
    "unwritten_shared": (UNWRITTEN.format("shared"), 4),
    "unwritten_local": (UNWRITTEN.format("local"), 3),
    "unwritten_bins": (UNWRITTEN.format("shared"), 2),
    "unwritten_global": (UNWRITTEN.format("global"), 3),
    "divergent_barrier": (IN_WARP, 3, 3),
    "barrier_in_a_loop_of_other_rounds": (IN_WARP, 4, 4),
    "two_barriers_for_one": (IN_BLOCK, 5, 9),
    "two_barriers_within_a_warp": (IN_WARP, 8, 5),
    "two_barriers_of_a_macro": (IN_WARP, 1, 1),
    "two_barriers_on_a_line": (IN_BLOCK, 1, 1),
    "two_inlined_calls": (IN_WARP, -4, -4),
    "inlined_calls_of_inlined_calls": (IN_BLOCK, -13, -13),
    "two_calls_of_a_function": (IN_BLOCK, -4, -4),
    "two_calls_of_what_calls_it": (IN_WARP, -16, -16),
    "count_in_both_arms": (IN_BLOCK, 3, 5),
    "continue_over_a_barrier": (IN_BLOCK, 3, 3),
    "continue_within_a_warp": (IN_WARP, 3, 3),
    "warps_in_other_rounds_of_the_outer_loop": (IN_BLOCK, 4, 4),
    "calls_in_other_rounds": (IN_BLOCK, -62, -62),
    "warp_leaves_the_loop_early": (IN_BLOCK, 6, 3),
    "mask_without_the_caller": ("Invalid arguments: mask 0x0000ffff", 1),
    "mask_of_lanes_elsewhere": ("Divergent thread(s): launch of mask_of_lanes_elsewhere: deadlock",),
    "counter_cleared_beside_atomics": (WAW, 2, 3),
    "counter_cleared_for_one_warp": (WAW, 2, 4),
    "plain_read_before_atomics": (WAR, 2, 3),
    "atomic_read_before_a_plain_one": (WARP_WAR, 7, 9),
    "fences_of_half": (RAW, 2, 7),
    "fence_of_another_behind_the_barrier": (RAW, 2, 7),
    "readers_without_a_fence": (RAW, 2, 5),
    "waits_for_its_own_flag": (RAW, 2, 6),
    "mbarrier_before_it_is_made": (RAW, 4, 6),
    "copy_told_to_an_mbarrier_alone": (RAW, 6, 9),
    "counts_of_a_named_barrier": ("Invalid arguments: barrier 1 is for 64 threads and for 32 threads", 2, 4),
    "leader_in_a_loop": (RAW, 4, 6),
    "leader_ends_the_loop": (RAW, 6, 5),
    "bins_read_beside_atomics": (WARP_RAW, 4, 5),
    "atomics_of_two_scopes": (WAW, 2, 1),
    "tile_of_two_warps_not_met": (RAW, 4, 5),
    "leader_in_other_arm": (WARP_WAR, 4, 3),
}


@cache
def module():
    """All kernels, compiled once."""
    return LinkedModule(compile_files(SOURCE, architecture=80), SOURCE.parent)


def right():
    """The kernels without a fault."""
    return [name for name in module().entries if name.startswith("right_")]


@cache
def found(kernel, checks="all", fresh=False, zeros=False, linked=None, launches=1):
    """What the checks find in a kernel, as `Found`. fresh: whether nobody has written `out`. zeros: what `in` holds.

    linked: in the place of `module()`. launches: how often it is launched.
    """
    device = Device()
    checker = Checker(checks_of(checks))
    out, given, state = np.zeros(4096, np.int32), np.arange(4096, dtype=np.int32), np.zeros(64, np.int32)
    given *= not zeros
    places = [device.memory.place(n, a) for n, a in (("out", out), ("in", given), ("state", state))]
    if fresh:
        checker.allocated(out)
    before = out.copy(), state.copy()
    function = KernelFunction(linked or module(), kernel)
    function.is_quick = True
    launch = DeviceLaunch((BLOCKS, 1, 1), (THREADS, 1, 1), np.array(places, np.uint64).tobytes())
    for _ in range(launches):
        checker.launch(device, function, launch)
    assert np.array_equal(before[0], out)
    assert np.array_equal(before[1], state)
    return checker.found


def first_line(kernel):
    """The number of the line that a kernel begins with."""
    lines = SOURCE.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if f"__global__ void {kernel}(" in line)


def lines_of(kernel, finding):
    """The lines of its sides, counted from the kernel's first."""
    return tuple(side.line - first_line(kernel) for side in finding.sides)


def planted(kernel, among):
    """The planted fault of a kernel among what was found in it; None where it was not."""
    words, *lines = FAULTS[kernel]
    alike = (each for each in among.harmful if words in each.what and lines_of(kernel, each) == tuple(lines))
    return next(alike, None)
