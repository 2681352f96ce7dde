"""What lowering says of accesses on machines with a pipe of L1 and shared memory (docs/machine.md, section 9)."""

from collections import Counter

import pytest

from simtmm import Machine, lower
from tests.trace.build import barrier, load, shared, store, trace, work
from tests.trace.test_compiled import fetch, local, lowered, site
from tests.trace.test_lower import machine
from tests.trace.test_stalls import stalled

PIPE = {"memory.pipe.tag_interval": 0.25}
READS, USES = site(0, "shared_load", gives=(0,)), site(9, "store", needs=(0,))


def passes(addresses, size=4, what=load, width=32, **keys):
    """Of one access of a warp whose lanes access these."""
    changes = {"cores.warp_width": width, "cores.cores_per_group": 32, "memory.chunk_words": 32, **PIPE, **keys}
    program = trace([[[what(0, address, size)] for address in addresses]])
    (operation,) = lower(program, machine().replace(changes)).warp(0)
    if operation[0] == "shared":
        return operation[1]
    return operation[2] if len(operation) > 2 else 1


@pytest.mark.parametrize("what", [load, store, shared])
@pytest.mark.parametrize(
    ("stride", "size", "expected"),
    [(1, 4, 1), (2, 4, 2), (3, 4, 1), (8, 4, 8), (31, 4, 1), (32, 4, 32), (33, 4, 1), (0, 4, 1),
     (1, 8, 2), (2, 8, 4), (0, 8, 2), (1, 16, 4), (2, 16, 8), (0, 16, 4)],
)  # fmt: skip
def test_passes_over_strides_are_those_that_nsight_counts(what, stride, size, expected):
    """Wavefronts of the data pipe on an A100 where a thread t reads from a + t * stride (l1_strides of gpu-benches)."""
    found = passes([lane * stride * size for lane in range(32)], size, what)
    assert found == (size // 4 if what is store else expected)  # a store reads no bank


@pytest.mark.parametrize(("count", "width"), [(12, 4), (3, 4), (32, 12), (5, 6), (16, 8), (32, 4)])
@pytest.mark.parametrize(
    ("stride", "size", "lanes"),
    [(4, 4, 32), (8, 4, 32), (12, 4, 32), (24, 4, 32), (20, 4, 32), (12, 8, 16), (40, 16, 8)],
)
def test_shared_memory_takes_as_many_passes_as_its_busiest_bank_has_words(count, width, stride, size, lanes):
    """Of lanes that are served together; banks of any number and width, of which an access may lie in several."""
    changes = {"banks.count": count, "banks.word_bytes": width}
    expected = 0
    for first in range(0, 32, lanes):
        begins = [lane * stride for lane in range(first, first + lanes)]
        words = {word for begin in begins for word in range(begin // width, (begin + size - 1) // width + 1)}
        expected += max(Counter(word % count for word in words).values())
    assert passes([lane * stride for lane in range(32)], size, shared, **changes) == expected


@pytest.mark.parametrize(("apart", "expected"), [(16, 4), (64, 16), (80, 4), (128, 32), (160, 4 * 2)])
def test_rows_of_a_matrix_are_loaded_in_phases_of_eight_lanes(apart, expected):
    """Rows of 16 bytes, as ldmatrix.x4 loads: a phase of 8 rows takes as many passes as rows share a bank."""
    rows = [lane % 16 * apart + lane // 16 * 16 for lane in range(32)]
    if apart == 16:
        rows = [lane * 16 for lane in range(32)]
    if apart == 160:  # banks 40 words apart: 8 rows begin in 4 places
        assert passes(rows, 16, shared) == expected
        return
    assert passes(rows, 16, shared) == expected


WHOLE: list[int] = []
QUARTERS = [8] * 4


@pytest.mark.parametrize(
    ("address_of", "size", "sectors"),
    [
        (lambda lane: 4 * lane, 4, [WHOLE]),
        (lambda lane: 16 * lane, 16, [WHOLE] * 4),
        (lambda lane: 128 * lane, 4, [[4]] * 32),
        (lambda lane: 0, 4, [[32]]),  # bytes add up over lanes, as far as there are any
        (lambda lane: lane // 16 * 4096, 4, [[32], [32]]),
        (lambda lane: lane % 16 * 4 + lane // 16 * 4096, 4, [[32, 32]] * 2),  # two rows of 64 bytes
        (lambda lane: 4096 - 128 * lane, 8, [[8]] * 32),  # downward
        (lambda lane: 28 + 128 * lane, 8, [[4, 4]] * 32),  # across the border of two sectors
        (lambda lane: 124 + 256 * lane, 8, [[0, 0, 0, 4], [4]] * 32),  # and of two chunks
        (lambda lane: (lane * 7 % 32) * 4, 4, [WHOLE]),  # mixed
        (lambda lane: (lane * 13 % 32) * 32, 1, [[1] * 4] * 8),
        (lambda lane: 16 * lane, 4, [QUARTERS] * 4),
        (lambda lane: 96 + 4 * lane, 4, [[0, 0, 0, 32], [32, 32, 32]]),
    ],
)
@pytest.mark.parametrize(("what", "word"), [(store, "store"), (load, "load")])
def test_an_access_says_what_it_accesses_of_sectors_where_chunks_have_them(address_of, size, sectors, what, word):
    changes = {"cores.warp_width": 32, "cores.cores_per_group": 32, "memory.chunk_words": 32, "memory.sectors": 4}
    program = trace([[[what(0, address_of(lane), size)] for lane in range(32)]])
    ((kind, listed, *said),) = lower(program, machine().replace(changes)).warp(0)
    assert kind == word
    assert said == ([1, sectors] if any(sectors) else [])
    (plain,) = lower(program, machine().replace({**changes, "memory.sectors": 1})).warp(0)
    assert plain == [word, listed]
    assert len(listed) == len(sectors)


@pytest.mark.parametrize(("atomics", "entries"), [("each", 32), ("by-word", 16)])
def test_each_entry_of_an_atomic_says_what_all_of_them_access(atomics, entries):
    """Eight lanes update each of four words, two of each of two chunks."""
    changes = {"cores.warp_width": 32, "cores.cores_per_group": 32, "memory.chunk_words": 32, "memory.sectors": 4}
    program = trace([[[(0, "atomic", lane % 4 * 4 + lane % 2 * 128, 4)] for lane in range(32)]])
    ((_, listed, _, said),) = lower(program, machine().replace({**changes, "memory.atomics": atomics})).warp(0)
    assert len(listed) == len(said)
    assert {tuple(sectors) for sectors in said} == {(32,)}
    assert len(listed) == entries


def test_an_update_of_shared_memory_takes_passes_of_its_own():
    def amount(address_of, **keys):
        changes = {"cores.warp_width": 32, "cores.cores_per_group": 32, "memory.chunk_words": 32, **PIPE, **keys}
        block = [[shared(0, address_of(lane), kind="shared_atomic")] for lane in range(32)]
        ((_, *found),) = lower(trace([block]), machine().replace(changes)).warp(0)
        return found

    twice = {"banks.atomic_passes": 2}
    assert amount(lambda lane: 4 * lane) == [1]
    assert amount(lambda lane: 4 * lane, **twice) == [2, 2]  # of which none is a conflict
    assert amount(lambda lane: 0) == [32]
    assert amount(lambda lane: 0, **twice) == [64, 2]
    loads = [lane * 4 for lane in range(32)]
    assert passes(loads, what=shared, **twice) == passes(loads, what=store, **twice) == 1


def test_fewer_bytes_together_make_more_passes():
    words = [4 * lane for lane in range(32)]
    assert passes(words, **{"memory.pipe.phase_bytes": 64}) == 2
    assert passes(words, what=shared, **{"memory.pipe.phase_bytes": 64}) == 2
    assert passes(words, **{"memory.pipe.lanes": 8}) == 4
    assert passes(words, what=shared, **{"memory.pipe.lanes": 8}) == 1
    assert passes(words, what=shared, **{"banks.lanes": 8}) == 4


AMD = {"memory.pipe.lanes": 4, "memory.pipe.run": 16, "memory.pipe.banks": 16, "memory.pipe.tag_banks": 4}
OFFSETS = [0, 4, 8, 12, 20, 16, 24, 28]  # of the eight loads of the kernel that was measured


@pytest.mark.parametrize(
    ("stride", "size", "measured"), [(0, 4, 2.18), (1, 4, 2.18), (2, 4, 16.1), (3, 4, 8.1), (4, 4, 32.2), (5, 4, 14.1),
                                     (6, 4, 16.1), (9, 4, 14.1), (15, 4, 24.2), (16, 4, 32.2), (17, 4, 24.2),
                                     (61, 4, 14.1), (0, 8, 8.1), (1, 8, 8.1), (2, 8, 8.1), (4, 8, 16.1), (8, 8, 32.2),
                                     (10, 8, 12.1), (11, 8, 16.1), (13, 8, 12.1), (25, 8, 8.1), (31, 8, 28.2)],
)  # fmt: skip
def test_lanes_by_four_but_for_runs_of_words(stride, size, measured):
    """Passes of 64 lanes on an MI210, where 32 take half as many cycles (l1_strides of gpu-benches)."""
    addresses = [lane * stride * size for lane in range(64)]
    mean = sum(passes([at + size * by for at in addresses], size, width=64, **AMD) for by in OFFSETS) / len(OFFSETS)
    assert mean / 2 == pytest.approx(measured, rel=0.015 if measured > 3 else 0.1)  # a loop's own cycles
    assert passes(addresses, size, store, width=64, **AMD) <= passes(addresses, size, width=64, **AMD)


@pytest.mark.parametrize(("columns", "expected"), [(1, 32), (2, 48), (4, 16), (8, 8), (16, 4), (64, 4)])
def test_rows_of_a_block_come_by_runs_if_these_are_long_enough(columns, expected):
    """Rows 4,098 floats apart: 40, 48, 15, 8, 4.4 and 4.4 cycles on an MI210."""
    places = [lane % columns + lane // columns * 4098 for lane in range(64)]
    mean = sum(passes([4 * (at + by) for at in places], width=64, **AMD) for by in OFFSETS) / len(OFFSETS)
    assert mean == expected


def test_a_store_passes_tags_and_no_banks():
    """Rows of 64 bytes: four lanes, each in a row of its own, in one bank of tags, in two, and in four."""
    for rows, expected in ((4, 64), (2, 32), (1, 16), (3, 16)):
        addresses = [lane * 64 * rows for lane in range(64)]
        assert passes(addresses, 8, store, width=64, **AMD) == expected
    assert passes([lane * 16 for lane in range(64)], 16, store, width=64, **AMD) == 16
    assert passes([60 + lane * 128 for lane in range(4)], 8, store, width=64, **AMD) == 2  # each in two rows


def test_a_run_ends_where_its_order_does():
    rows = [lane % 8 * 4 + lane // 8 * 4096 for lane in range(64)]
    assert passes(rows, width=64, **AMD) == 8
    backwards = [4 * (63 - lane) for lane in range(64)]
    assert passes(backwards, width=64, **AMD) == 16


@pytest.mark.parametrize("stride", [2, 3, 5, 16, 33])
@pytest.mark.parametrize("banks", [16, 12])
def test_without_banks_of_tags_every_fourth_lane_is_served_together(stride, banks):
    """A pass for each word of their busiest bank, of loads; one for each four lanes, of stores."""
    words = [lane * stride for lane in range(64)]
    expected = 0
    for first in (*range(4), *range(16, 20), *range(32, 36), *range(48, 52)):
        expected += max(Counter(word % banks for word in words[first : first // 16 * 16 + 16 : 4]).values())
    keys = {key: value for key, value in AMD.items() if key != "memory.pipe.tag_banks"} | {"memory.pipe.banks": banks}
    assert passes([4 * word for word in words], width=64, **keys) == expected
    assert passes([4 * word for word in words], what=store, width=64, **keys) == 16


def test_updates_of_one_word_in_shared_memory_come_one_after_another():
    def update(site, offset, size):
        return shared(site, offset, size, "shared_atomic")

    assert passes([0] * 32, what=update) == 32
    assert passes([4 * lane for lane in range(32)], what=update) == 1
    assert passes([4 * (lane // 2) for lane in range(32)], what=update) == 2


def test_local_memory_takes_a_pass_for_each_word_of_the_widest_lane():
    keys = {"cores.warp_width": 32, "memory.chunk_words": 32, **PIPE}
    for size, expected in ((4, []), (8, [2]), (16, [4])):
        (warp,) = lowered([[local(0, 0, size)]] * 32, [site(0, "local_load")], local=64, **keys)
        assert warp[-1][2:] == expected


def settles(threads, sites):
    (warp,) = lowered(threads, sites, **PIPE, **{"banks.latency": 20})
    return warp


def test_who_needs_a_value_of_shared_memory_settles():
    assert settles([[shared(0, 0), store(9, 0)]], [READS, USES]) == [["shared", 1], ["settle", 0], ["store", [0]]]
    assert settles([[shared(0, 0), work(1, 7), store(9, 0)]], [READS, USES]) == [
        ["shared", 1], ["compute", 7], ["settle", 0], ["store", [0]]
    ]  # fmt: skip


def test_it_leaves_out_what_came_behind_and_waits_for_nothing_twice():
    sites = [READS, site(1, "shared_load", gives=(1,)), site(8, "store", needs=(0, 1)), USES]
    block = [[shared(0, 0), shared(1, 64), shared(2, 32), store(9, 0), store(8, 32), store(9, 64)]]
    assert settles(block, sites) == [
        ["shared", 1], ["shared", 1], ["shared", 1], ["settle", 2], ["store", [0]], ["settle", 1], ["store", [1]],
        ["store", [2]],
    ]  # fmt: skip


def test_no_more_are_left_out_than_a_settle_can():
    block = [[shared(0, 0), *[shared(2, 32)] * 40, store(9, 0), *[shared(2, 32)] * 5, store(9, 0)]]
    found = settles(block, [READS, USES])
    assert [operation for operation in found if operation[0] == "settle"] == [["settle", 31]]


def test_loads_in_flight_stay_so():
    sites = [READS, site(3, "async", gives=(3,)), USES, site(8, "store", needs=(3,))]
    block = [[fetch(3, 0), shared(0, 0), store(9, 32), store(8, 64)]]
    assert settles(block, sites) == [
        ["async", [0]], ["shared", 1], ["settle", 0], ["store", [1]], ["join", 0], ["store", [2]]
    ]  # fmt: skip


def test_barriers_and_unnamed_values_settle_nothing():
    assert settles([[shared(0, 0), barrier(1), store(2, 0)]], [READS, site(1, "barrier"), site(2, "store")]) == [
        ["shared", 1], ["barrier"], ["store", [0]]
    ]  # fmt: skip


CHAIN = [stalled(0, 96, "work", work=[("fp32", 32)])]


@pytest.mark.parametrize(
    ("stalls", "interval", "pause"),
    [("add", 2, 96), ("overlap", 2, 65), ("overlap", 1, 96), ("overlap", 4, 3), ("overlap", 9, 0),
     ("overlap", 1.5, 81), ("none", 2, 0)],
)  # fmt: skip
def test_stalls_pass_while_a_pipe_is_taken(stalls, interval, pause):
    keys = {"pipes.fp32.interval": interval, "scheduling.stalls": stalls}
    keys |= {"cores.warp_width": 32, "cores.cores_per_group": 32, "ticks_per_cycle": 100}
    (warp,) = lowered([[work(0, 1)]], CHAIN, **keys)
    assert warp == [["compute", 32, "fp32"], *([["pause", pause]] if pause else [])]


def test_what_stands_before_an_access_overlaps_too_and_one_instruction_hides_nothing():
    keys = {"pipes.fp32.interval": 3, "scheduling.stalls": "overlap", "cores.warp_width": 4}
    (warp,) = lowered([[store(0, 0)]], [stalled(0, 10, "store", work=[("fp32", 4)])], **keys)
    assert warp == [["compute", 4, "fp32"], ["pause", 4], ["store", [0]]]
    (warp,) = lowered([[store(0, 0)]], [stalled(0, 10, "store", work=[("fp32", 1)])], **keys)
    assert warp == [["compute", 1, "fp32"], ["pause", 10], ["store", [0]]]


def test_without_stalls_a_machines_own_latencies_take_their_place():
    keys = {"scheduling.stalls": "none", "instructions.fp32": 5, "cores.warp_width": 4}
    (warp,) = lowered([[work(0, 1)]], CHAIN, **keys)
    assert warp == [["compute", 32], ["pause", 4 * 32]]


def test_a_machine_without_a_pipe_is_lowered_as_before():
    plain = Machine.from_dict(machine().to_dict())
    program = trace([[[load(0, 8 * lane, 8), shared(1, 128 * lane)] for lane in range(4)]])
    assert [list(each) for each in lower(program, plain).warp(0)] == [["load", [0]], ["shared", 4]]
