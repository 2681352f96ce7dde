"""What the hints say, done to the planted faults: of each kernel words of its hint, and lines that are changed by them.

Lines are counted from the kernel's own; of each what is replaced and by what, on the same line.
"""

from functools import cache

from simtmm.cuda.compilers import compile_files
from simtmm.cuda.linked import LinkedModule
from tests.cuda.checks import faults

SYNC, WARP_SYNC = "__syncthreads()", "__syncwarp()"
ONE_PLACE = "let one of them write it"
SAME = "no condition, continue or break may separate them there"
FLAG = "or a flag that is set and read atomically, with __threadfence() between it and the data"
COPY = "wait for the copy in the thread that began it (cp.async.wait_group"
NEITHER = {2: ("if (", "if (false && "), 6: ("if (", "if (false && ")}
WAITING = ("COMMIT();", "COMMIT(); WAIT(0);")


def _first(barrier, line, text):
    """A barrier before what stands on a line."""
    return barrier, {line: (text, f"{barrier}; {text}")}


MENDED = {
    "missing_barrier": _first(SYNC, 3, "out["),
    "missing_barrier_in_loop": (SYNC, {6: ("threadIdx.x];", f"threadIdx.x]; {SYNC};")}),
    "double_buffer_of_one": (SYNC, {6: ("threadIdx.x];", f"threadIdx.x]; {SYNC};")}),
    "barrier_of_the_warp_alone": _first(SYNC, 4, "out["),
    "fence_is_no_barrier": _first(SYNC, 4, "out["),
    "reduction_stops_too_early": _first(SYNC, 7, "out["),
    "neighbours_part": (SYNC, {6: ("b[", f"{SYNC}; b[")}),
    "all_write_one": (ONE_PLACE, {2: ("last =", "if (threadIdx.x == 0) last =")}),
    "named_barrier_of_others": _first(SYNC, 5, "out["),
    "missing_syncwarp": _first(WARP_SYNC, 4, "out["),
    "warp_synchronous_reduction": (WARP_SYNC, {
        6: ("sums[threadIdx.x] +=", f"int a = sums[threadIdx.x + 32]; {WARP_SYNC}; sums[threadIdx.x] += a; //"),
        7: ("sums[threadIdx.x] +=", f"{WARP_SYNC}; a = sums[threadIdx.x + 16]; {WARP_SYNC}; sums[threadIdx.x] = a; //"),
        8: ("sums[threadIdx.x] +=", f"{WARP_SYNC}; a = sums[threadIdx.x + 8]; {WARP_SYNC}; sums[threadIdx.x] = a; //"),
    }),
    "syncwarp_of_half": _first(WARP_SYNC, 5, "out["),
    "missing_syncwarp_before_the_write": _first(WARP_SYNC, 6, "sums["),
    "shuffle_between_write_and_read": _first(WARP_SYNC, 5, "out["),
    "ballot_between_write_and_read": _first(WARP_SYNC, 4, "out["),
    "vote_between_read_and_write": (WARP_SYNC, {4: ("^ 3];", f"^ 3]; {WARP_SYNC};")}),
    "match_between_write_and_read": _first(WARP_SYNC, 4, "out["),
    "redux_between_write_and_read": _first(WARP_SYNC, 4, "out["),
    "active_mask_between_write_and_read": _first(WARP_SYNC, 4, "out["),
    "shuffle_between_write_and_read_of_global": (WARP_SYNC, {2: ("int next", f"{WARP_SYNC}; int next")}),
    "compaction_without_syncwarp": (WARP_SYNC, {5: ("int count", f"{WARP_SYNC}; int count")}),
    "one_sum_of_all_lanes": ("atomicAdd()", {
        4: ("sums[threadIdx.x / 32] += in[threadIdx.x];", "atomicAdd(&sums[threadIdx.x / 32], in[threadIdx.x]);"),
    }),
    "greatest_of_all_lanes": ("atomicMax()", {
        4: ("if (in[threadIdx.x] > most[threadIdx.x / 32]) most[threadIdx.x / 32] = in[threadIdx.x];",
            "atomicMax(&most[threadIdx.x / 32], in[threadIdx.x]);"),
    }),
    "rounds_without_a_barrier": ("in different iterations of a loop, put __syncthreads() between", {
        5: ("in[threadIdx.x];", "in[threadIdx.x]; __syncthreads();"),
    }),
    "rounds_of_stores_without_a_barrier": ("in different iterations of a loop, put __syncthreads() between", {
        3: ("+ 1;", "+ 1; __syncthreads();"),
    }),
    "histogram_without_atomics": ("atomicAdd()", {
        4: ("bins[in[threadIdx.x] % 8] += 1;", "atomicAdd(&bins[in[threadIdx.x] % 8], 1);"),
    }),
    "atomic_against_plain": _first(SYNC, 5, "out["),
    "atomic_of_a_block_between_blocks": ("use atomicAdd()", {1: ("atomicAdd_block(", "atomicAdd(")}),
    "blocks_write_one": (ONE_PLACE, {1: ("if (threadIdx.x == 0)", "if (threadIdx.x + blockIdx.x == 0)")}),
    "blocks_add_to_one": ("atomicAdd()", {1: ("state[5] += in[blockIdx.x] + 1", "atomicAdd(&state[5], in[3])")}),
    "blocks_read_their_neighbours": ("use two launches", {4: ("if (i >= 64)", "if (false)")}),
    "last_block_without_fence": (FLAG, {4: ("last =", "__threadfence(); last =")}),
    "last_block_with_a_fence_of_the_block": (FLAG, {4: ("__threadfence_block();", "__threadfence();")}),
    "last_block_before_all_have_written": ("or in one behind __syncthreads()", {3: ("if (", "__syncthreads(); if (")}),
    "chain_of_flags_without_fence": (FLAG, {11: ("flags[", "__threadfence(); flags[")}),
    "spin_lock_not_taken_by_all": ("atomicAdd()", {5: ("out[0] += in[threadIdx.x] + 1", "atomicAdd(&out[0], 1)")}),
    "grid_barrier_without_the_second_half": ("a grid-wide barrier", {11: ("//", "__syncthreads(); //")}),
    "flag_of_a_block_without_fence": (SYNC, {10: ("if (", "__syncthreads(); if (")}),
    "acquire_without_release": (FLAG, {4: ("asm volatile", "__threadfence(); asm volatile")}),
    "copy_without_a_wait": (COPY, {3: WAITING}),
    "copy_read_by_its_own_thread": (COPY, {3: ("out[", "COMMIT(); WAIT(0); out[")}),
    "copy_waited_for_behind_the_barrier": (f"and put {SYNC} behind that", {5: ("WAIT(0);", f"WAIT(0); {SYNC};")}),
    "copy_waited_for_without_a_barrier": (f"and put {SYNC} behind that", {4: ("out[", f"{SYNC}; out[")}),
    "copy_of_the_latest_group_not_waited_for": (COPY, {6: ("WAIT(1)", "WAIT(0)")}),
    "copy_before_all_have_read": (SYNC, {7: ("threadIdx.x];", f"threadIdx.x]; {SYNC};")}),
    "store_over_a_copy": (COPY, {3: ("tile[", "COMMIT(); WAIT(0); tile[")}),
    "unwritten_shared": ("write it before it is read", {2: ("if (threadIdx.x < 63)", "")}),
    "unwritten_local": ("give it one where it is declared", {1: ("own[16];", "own[16] = {};")}),
    "unwritten_bins": ("as with zeros, and put __syncthreads() behind that", {
        2: ("atomicAdd", "if (threadIdx.x < 8) bins[threadIdx.x] = 0; __syncthreads(); atomicAdd"),
    }),
    "unwritten_global": ("fill it first", {2: ("if (threadIdx.x != 5)", "")}),
    "divergent_barrier": ("move the barrier to where all threads", {3: ("if (threadIdx.x < 16)", "")}),
    "barrier_in_a_loop_of_other_rounds": ("move the barrier to where all threads", {
        3: ("for (int i", "__syncthreads(); for (int i"), 4: ("__syncthreads();", ""),
    }),
    "two_barriers_for_one": (SAME, {
        3: ("if (", "__syncthreads(); if ("), 5: ("__syncthreads();", ""), 9: ("__syncthreads();", ""),
    }),
    "two_barriers_within_a_warp": (SAME, {
        3: ("if (", "__syncthreads(); if ("), 5: ("__syncthreads();", ""), 8: ("__syncthreads();", ""),
    }),
    "two_barriers_of_a_macro": (SAME, {1: ("EITHER(threadIdx.x % 32 < 16)", "BARRIER; MINE = 1;")}),
    "two_barriers_on_a_line": (SAME, {1: ("if (threadIdx.x < 32) {", "if (in[0] == 0) {")}),
    "two_inlined_calls": (SAME, {1: ("threadIdx.x % 32 < 16", "in[0] == 0")}),
    "inlined_calls_of_inlined_calls": (SAME, {1: ("threadIdx.x < 32", "in[0] == 0")}),
    "two_calls_of_a_function": (SAME, {1: ("threadIdx.x < 32", "in[0] == 0")}),
    "two_calls_of_what_calls_it": (SAME, {1: ("threadIdx.x % 32 < 16", "in[0] == 0")}),
    "count_in_both_arms": (SAME, {2: ("threadIdx.x < 32", "in[0] == 0")}),
    "continue_over_a_barrier": ("continue or break may separate", NEITHER),
    "continue_within_a_warp": ("continue or break may separate", NEITHER),
    "warps_in_other_rounds_of_the_outer_loop": ("in the same iterations of the loops around it", {
        2: ("if (", "if (false && "), 8: ("if (", "if (false && "),
    }),
    "calls_in_other_rounds": ("in the same iterations of the loops around it", {
        2: ("if (", "if (false && "), 5: ("if (", "if (false && "),
    }),
    "warp_leaves_the_loop_early": ("continue or break may separate", {2: (" && threadIdx.x < 32", "")}),
    "mask_without_the_caller": ("must name the lane that calls it", {1: ("0x0000ffff", "0xffffffff")}),
    "mask_of_lanes_elsewhere": ("name in the mask only lanes that do", {
        3: ("0xffffffff", "0x0000ffff"), 5: ("0xffffffff", "0xffff0000"),
    }),
    "counter_cleared_beside_atomics": _first(SYNC, 3, "atomicAdd"),
    "counter_cleared_for_one_warp": _first(SYNC, 4, "atomicAdd"),
    "plain_read_before_atomics": _first(SYNC, 3, "if ("),
    "atomic_read_before_a_plain_one": _first(SYNC, 9, "if ("),
    "fences_of_half": (FLAG, {3: ("if (threadIdx.x < 32) ", "")}),
    "fence_of_another_behind_the_barrier": (FLAG, {5: ("if (", "if (threadIdx.x == 0) __threadfence(); if (")}),
    "readers_without_a_fence": (FLAG, {5: ("out[", "__threadfence(); out[")}),
    "waits_for_its_own_flag": (FLAG, {3: ("blockIdx.x)", "(blockIdx.x ? blockIdx.x - 1 : 0))")}),
    "mbarrier_before_it_is_made": _first(SYNC, 6, "ARRIVE"),
    "copy_told_to_an_mbarrier_alone": ("or for the mbarrier or cuda::pipeline that was told of it", {
        8: ("__syncthreads();", "ARRIVE_AND_WAIT(at)"), 10: ("ARRIVE_AND_WAIT(at)", ""),
    }),
    "counts_of_a_named_barrier": ("the same number of threads", {4: ("1, 32", "1, 64")}),
    "leader_in_a_loop": (SYNC, {4: ("if (", "__syncthreads(); if (")}),
    "leader_ends_the_loop": (SYNC, {6: ("if (", "__syncthreads(); if (")}),
    "bins_read_beside_atomics": _first(SYNC, 5, "if ("),
    "atomics_of_two_scopes": ("use atomicAdd(), cuda::thread_scope_device", {2: ("atomicAdd_block", "atomicAdd")}),
    "tile_of_two_warps_not_met": _first(SYNC, 5, "out["),
    "leader_in_other_arm": _first(WARP_SYNC, 4, "out["),
}  # fmt: skip


@cache
def module(folder):
    """All kernels, mended, compiled once. folder: where their source is written."""
    lines = faults.SOURCE.read_text().splitlines()
    for kernel, (_, changes) in MENDED.items():
        first = faults.first_line(kernel) - 1
        for number, (old, new) in changes.items():
            assert old in lines[first + number], f"{kernel}, line {number}: {lines[first + number]}"
            lines[first + number] = lines[first + number].replace(old, new, 1)
    source = folder / faults.SOURCE.name
    source.write_text("\n".join(lines))
    return LinkedModule(compile_files(source, architecture=80), folder)
