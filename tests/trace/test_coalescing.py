"""Coalescing of half-warps by segments; Rehman's thesis, section 6.2.1, and what follows from its rule.

Parameters named rehman.* are items of the list of published results, copied to tests/golden/rehman.toml.
"""

import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.errors import WorkloadError
from simtmm.trace.coalescing import HALF_WARP, Traffic, traffic, transactions

PRINTED = tomllib.loads((Path(__file__).parents[1] / "golden" / "rehman.toml").read_text(encoding="utf-8"))


def item(name, *values):
    """Parameters, an id each that begins with the item's."""
    return [pytest.param(value, id=f"{name}-{value}") for value in values]


# The rule: rehman.coalescing_protocol


@pytest.mark.parametrize(
    ("size", "segment"),
    [
        pytest.param(size, segment, id=f"rehman.coalescing_protocol-{size} bytes")
        for size, segment in ((1, 32), (2, 64), (4, 128), (8, 128), (16, 128))
    ],
)
def test_the_segment_depends_on_the_size_of_the_access(size, segment):
    both_ends = [segment, 2 * segment - size]
    assert transactions(both_ends, size) == [(segment, segment)]
    assert len(transactions([segment - size, *both_ends], size)) == 2


@pytest.mark.parametrize(
    ("addresses", "size", "expected"),
    [
        pytest.param([0, 124], 4, (0, 128), id="rehman.coalescing_protocol-both halves"),
        pytest.param([0, 60], 4, (0, 64), id="rehman.coalescing_protocol-lower half"),
        pytest.param([64, 124], 4, (64, 64), id="rehman.coalescing_protocol-upper half"),
        pytest.param([64, 92], 4, (64, 32), id="rehman.coalescing_protocol-third quarter"),
        pytest.param([100], 4, (96, 32), id="rehman.coalescing_protocol-last quarter"),
        pytest.param([28, 32], 4, (0, 64), id="rehman.coalescing_protocol-across the quarters"),
        pytest.param([60, 64], 4, (0, 128), id="rehman.coalescing_protocol-across the halves"),
        pytest.param([0, 62], 2, (0, 64), id="rehman.coalescing_protocol-2 bytes, both halves"),
        pytest.param([32, 62], 2, (32, 32), id="rehman.coalescing_protocol-2 bytes, upper half"),
        pytest.param([7], 1, (0, 32), id="rehman.coalescing_protocol-1 byte does not shrink"),
    ],
)
def test_a_segment_shrinks_to_the_half_that_is_used(addresses, size, expected):
    assert transactions(addresses, size) == [expected]


def test_the_lowest_thread_that_waits_leads():
    """rehman.coalescing_protocol"""
    assert transactions([512, 0, 516, 4, 300]) == [(512, 32), (0, 32), (288, 32)]


def by_sets(addresses, size):
    """The rule again, written with sets of addresses; for aligned accesses of one size."""
    waiting = list(addresses)
    while waiting:
        length = {1: 32, 2: 64}.get(size, 128)
        base = waiting[0] - waiting[0] % length
        served = {address for address in waiting if address - address % length == base}
        waiting = [address for address in waiting if address not in served]
        while length > 32:
            middle = base + length // 2
            halves = {address >= middle for address in served}
            if len(halves) == 2:
                break
            base, length = (middle if halves.pop() else base), length // 2
        yield base, length


aligned = st.sampled_from([1, 2, 4, 8, 16]).flatmap(
    lambda size: st.tuples(
        st.lists(st.integers(0, 60).map(lambda word: word * size), max_size=HALF_WARP), st.just(size)
    )
)


@given(aligned)
def test_the_rule_written_twice_gives_the_same_transactions(half_warp):
    """rehman.coalescing_protocol"""
    assert transactions(*half_warp) == list(by_sets(*half_warp))


accesses = st.lists(st.tuples(st.integers(0, 600), st.integers(1, 40)), min_size=1, max_size=HALF_WARP)


@given(accesses)
def test_every_byte_is_served_and_no_more_than_segments_are_moved(accesses):
    addresses, sizes = zip(*accesses, strict=True)
    result = transactions(addresses, sizes)
    moved = {byte for address, length in result for byte in range(address, address + length)}
    wanted = {byte for address, size in accesses for byte in range(address, address + size)}
    assert wanted <= moved
    for address, length in result:
        assert length in (32, 64, 128)
        assert address % length == 0
        assert wanted & set(range(address, address + length))  # none is for nothing


@given(st.lists(accesses, min_size=1, max_size=5))
def test_traffic_is_the_sum_over_half_warps(warps):
    width = max(len(warp) for warp in warps)
    addresses, sizes = np.zeros((len(warps), width), int), np.ones((len(warps), width), int)
    active = np.zeros((len(warps), width), bool)
    for row, warp in enumerate(warps):
        active[row, : len(warp)] = True
        addresses[row, : len(warp)], sizes[row, : len(warp)] = zip(*warp, strict=True)
    result = [transactions(addresses[row][active[row]], sizes[row][active[row]]) for row in range(len(warps))]
    found = traffic(addresses, sizes, active)
    assert found.transactions == sum(map(len, result))
    assert found.bytes_moved == sum(length for each in result for _, length in each)
    assert 0 < found.useful_bytes <= found.bytes_moved


def test_half_warps_of_a_warp_are_served_apart():
    assert traffic(np.zeros(32, int)) == Traffic(transactions=2, bytes_moved=64, useful_bytes=8)
    assert traffic(np.zeros(16, int)) == Traffic(transactions=1, bytes_moved=32, useful_bytes=4)
    assert traffic(np.zeros((3, 20), int)) == Traffic(transactions=6, bytes_moved=192, useful_bytes=24)


def test_threads_that_take_no_part_move_nothing():
    active = np.arange(32) < 16
    assert traffic(np.arange(32) * 4, active=active) == Traffic(1, 64, 64)
    assert traffic(np.arange(32) * 4, active=np.zeros(32, bool)) == Traffic(0, 0, 0)
    assert transactions([]) == []


def test_an_access_beyond_its_segment_waits_for_the_next():
    assert transactions([126], 4) == [(96, 32), (128, 32)]
    assert transactions([0], 256) == [(0, 128), (128, 128)]


# Published: the two copy kernels


def copied(words, offset=0, stride=1):
    """Addresses of the accesses of consecutive threads to 32-bit words."""
    return 4 * (np.arange(words) * stride + offset)


@pytest.mark.parametrize(
    "offset", item("rehman.offset_copy", *PRINTED["rehman.offset_copy"]["one_transaction_offsets"], 32)
)
def test_aligned_copies_take_one_transaction_of_64_bytes_a_half_warp(offset):
    printed = PRINTED["rehman.offset_copy"]["one_transaction_bytes"]
    addresses = copied(32, offset)
    assert [length for _, length in transactions(addresses[:16])] == [printed]
    assert [length for _, length in transactions(addresses[16:])] == [printed]
    assert traffic(addresses).bytes_moved == traffic(addresses).useful_bytes


@pytest.mark.parametrize(
    ("offset", "wide"), [pytest.param(8, 0, id="rehman.offset_copy-8"), pytest.param(24, 1, id="rehman.offset_copy-24")]
)
def test_at_offset_8_only_every_other_half_warp_takes_two_transactions_of_32_bytes(offset, wide):
    """Printed: two of 32 bytes for each. One of the two half-warps lies within a segment of 128 bytes instead."""
    printed = PRINTED["rehman.offset_copy"]
    halves = copied(32, offset).reshape(2, 16)
    assert [length for _, length in transactions(halves[wide])] == [128]
    two = transactions(halves[1 - wide])
    assert [length for _, length in two] == [printed["offset_8_bytes"]] * printed["offset_8_transactions"]


@pytest.mark.parametrize("offset", item("rehman.offset_copy", *(o for o in range(33) if o % 8)))
def test_at_other_offsets_only_every_other_half_warp_takes_two_transactions(offset):
    """Printed: two for each. One of the two half-warps takes one of 128 bytes instead."""
    halves = copied(32, offset).reshape(2, 16)
    found = sorted(sorted(length for _, length in transactions(half)) for half in halves)
    assert found == [[32, 64], [128]]
    assert len(found[0]) == PRINTED["rehman.offset_copy"]["other_offsets_transactions"]


@pytest.mark.parametrize("offset", item("rehman.offset_copy", *range(33)))
def test_bytes_moved_over_bytes_used_explain_the_near_halving_of_bandwidth(offset):
    found = traffic(copied(32, offset))
    expected = 1.0 if offset % 16 == 0 else 1.5 if offset % 8 == 0 else 1.75
    assert found.bytes_moved / found.useful_bytes == expected


STRIDES = {1: 1, 2: 1, 3: 2, 4: 2, 5: 3, 6: 3, 7: 4, 8: 4, 16: 8, 31: 15, 32: 16, 33: 16, 64: 16, 1000: 16}


@pytest.mark.parametrize("stride", item("rehman.stride_copy", *STRIDES))
def test_transactions_grow_with_the_stride(stride):
    assert len(transactions(copied(16, stride=stride))) == STRIDES[stride]


def test_of_stride_2_half_is_unused_and_of_wide_strides_all_but_a_word():
    """rehman.stride_copy"""
    printed = PRINTED["rehman.stride_copy"]
    assert traffic(copied(16, stride=2)) == Traffic(printed["stride_2_transactions"], 128, 64)
    assert traffic(copied(16, stride=32)) == Traffic(printed["most_transactions"], 16 * 32, 64)


def test_rehman_worst_case_is_a_transaction_for_each_thread_of_a_half_warp():
    """rehman.worst_case: of 32 bytes each under the thesis's own rule, where Fig 6.3 says 128."""
    result = transactions(128 * np.arange(16)[::-1])
    assert len(result) == PRINTED["rehman.worst_case"]["transactions"] == HALF_WARP
    assert {length for _, length in result} == {32}


@given(aligned)
def test_aligned_accesses_never_take_more_transactions_than_threads(half_warp):
    assert len(transactions(*half_warp)) <= len(half_warp[0])


# What is refused


@pytest.mark.parametrize(
    ("addresses", "sizes", "line"),
    [
        ([0] * 17, 4, "17 addresses: a half-warp has at most 16 threads"),
        ([[0, 4]], 4, "2 addresses: a half-warp has at most 16 threads"),
        ([-4], 4, "addresses [-4]: must be whole numbers of at least 0 and below 2^63"),
        ([0.5], 4, "addresses [0.5]: must be whole numbers of at least 0 and below 2^63"),
        ([0], 0, "sizes 0: must be whole numbers of at least 1 and below 2^63"),
        ([0, 4], [4, 4, 4], "sizes of shape (3,): must be one, or one for each of (2,) addresses"),
        ([2**63 - 1], 4, f"address {2**63 - 1}: must be below 2^63, its segment included"),
        ([2**63], 4, f"addresses [{2**63}]: must be whole numbers of at least 0 and below 2^63"),
    ],
    ids=["17 threads", "two axes", "negative", "fraction", "no bytes", "other shape", "segment beyond", "beyond"],
)
def test_what_is_no_half_warp_is_refused(addresses, sizes, line):
    with pytest.raises(WorkloadError) as caught:
        transactions(addresses, sizes)
    assert str(caught.value) == f"coalescing: {line}"
