"""Workload: the JSON form there and back, what is refused, digests, and saving whole or not at all."""

import dataclasses
import json
import os

import numpy as np
import pytest
from hypothesis import given

from simtmm import Workload, load_workload
from simtmm.errors import OutputError, WorkloadError
from simtmm.machine.tables import memory
from simtmm.testing import workloads
from simtmm.workload import LARGEST, MOST_SECTOR_BYTES, MOST_SECTORS, OPERATIONS
from tests.examples import examples

EVERYTHING = [
    ["compute", 4], ["shared", 2], ["load", [0, 1]], ["async", [5]], ["store", [7, 7]], ["atomic", [3, 3, 3]],
    ["join", 1], ["barrier"], ["pause", 6], ["reduce", [9]],
]  # fmt: skip
BLOCKS = [{"warps": [EVERYTHING, [["compute", 1]]]}, {"warps": [[]]}, {"warps": []}]


def workload(blocks=BLOCKS):
    return Workload.from_dict({"blocks": blocks})


def one(operation):
    return {"blocks": [{"warps": [[["compute", 1], operation]]}]}


# The JSON form


def test_both_forms_say_the_same():
    assert Workload.from_dict({"blocks": BLOCKS}) == Workload.from_dict({"launches": [{"blocks": BLOCKS}]})


def test_the_json_form_comes_back_with_launches():
    assert workload().to_dict() == {"launches": [{"blocks": BLOCKS}]}


def test_join_without_a_number_is_join_0():
    assert workload([{"warps": [[["join"]]]}]) == workload([{"warps": [[["join", 0]]]}])


@given(workloads())
@examples(40)
def test_a_workload_comes_back_from_its_json_form(drawn):
    again = Workload.from_dict(json.loads(json.dumps(drawn.to_dict())))
    assert again == drawn
    assert again.digest() == drawn.digest()


def test_a_workload_comes_back_from_its_file(tmp_path):
    workload().save(tmp_path / "w.json")
    again = load_workload(tmp_path / "w.json")
    assert again == workload()
    assert again.origin == str(tmp_path / "w.json")


def test_sizes_are_over_all_launches():
    result = Workload.from_dict({"launches": [{"blocks": BLOCKS}, {"blocks": BLOCKS[:1]}]})
    assert (result.launches, result.blocks, result.warps, result.operations) == (2, 4, 5, 22)


def test_the_arrays_are_flat_with_offsets():
    result = workload()
    assert [OPERATIONS[kind] for kind in result.kind[:10]] == [operation[0] for operation in EVERYTHING]
    assert result.amount.tolist() == [4, 2, 2, 1, 2, 3, 1, 0, 6, 1, 1]
    assert result.chunks.tolist() == [0, 1, 5, 7, 7, 3, 3, 3, 9]
    assert result.warp_operations.tolist() == [0, 10, 11, 11]
    assert result.warp_chunks.tolist() == [0, 9, 9, 9]
    assert result.block_warps.tolist() == [0, 2, 3, 3]
    assert result.launch_blocks.tolist() == [0, 3]
    assert result.launch_limits.tolist() == [0]


def test_a_warp_can_be_read_alone():
    result = workload()
    assert list(result.warp(0)) == EVERYTHING
    assert list(result.warp(1)) == [["compute", 1]]


def test_the_largest_chunk_is_2_to_the_63_less_1():
    assert workload([{"warps": [[["load", [2**63 - 1]]]]}]).chunks.tolist() == [2**63 - 1]


def test_numpy_integers_are_welcome():
    assert workload([{"warps": [[["compute", np.int32(3)], ["load", [np.uint64(5)]]]]}]) == workload(
        [{"warps": [[["compute", 3], ["load", [5]]]]}]
    )


def test_blocks_per_group_belongs_to_a_launch():
    launches = [{"blocks": BLOCKS, "blocks_per_group": 3}, {"blocks": BLOCKS}]
    result = Workload.from_dict({"launches": launches})
    assert result.launch_limits.tolist() == [3, 0]
    assert result.to_dict() == {"launches": launches}


def test_blocks_per_group_may_stand_beside_blocks():
    result = Workload.from_dict({"blocks": BLOCKS, "blocks_per_group": 2})
    assert result.to_dict() == {"launches": [{"blocks": BLOCKS, "blocks_per_group": 2}]}


# Equality, digest, frozen

OTHERS = {
    "kind": [{"warps": [[["shared", 4]]]}],
    "amount": [{"warps": [[["compute", 5]]]}],
    "one more operation": [{"warps": [[["compute", 4], ["barrier"]]]}],
    "another control operation": [{"warps": [[["compute", 4], ["pause", 1]]]}],
    "one more warp": [{"warps": [[["compute", 4]], []]}],
    "one more block": [{"warps": [[["compute", 4]]]}, {"warps": []}],
    "split": [{"warps": [[["compute", 2], ["compute", 2]]]}],
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_what_differs_in_anything_is_unequal_and_has_another_digest(other):
    result = workload([{"warps": [[["compute", 4]]]}])
    assert result != workload(other)
    assert result.digest() != workload(other).digest()


def test_blocks_in_a_row_may_be_a_cluster_of_a_launch():
    launches = [{"blocks": BLOCKS, "cluster": 2}, {"blocks": BLOCKS}]
    result = Workload.from_dict({"launches": launches})
    assert [result.cluster_of(launch) for launch in range(2)] == [2, 1]
    assert result.to_dict() == {"launches": launches}
    without = Workload.from_dict({"launches": [{"blocks": BLOCKS}, {"blocks": BLOCKS, "cluster": 1}]})
    assert not len(without.clusters)
    assert result != without
    assert result.digest() != without.digest()
    assert result == without.with_clusters(result.clusters)


def test_chunks_and_launch_limits_count_in_equality_and_digest():
    chunk, other_chunk = workload([{"warps": [[["load", [1]]]]}]), workload([{"warps": [[["load", [2]]]]}])
    assert chunk != other_chunk
    assert chunk.digest() != other_chunk.digest()
    limited = Workload.from_dict({"blocks": BLOCKS, "blocks_per_group": 2})
    assert limited != workload()
    assert limited.digest() != workload().digest()


def test_where_operations_stand_counts_in_equality_and_digest():
    together = workload([{"warps": [[["compute", 1], ["compute", 1]], []]}])
    apart = workload([{"warps": [[["compute", 1]], [["compute", 1]]]}])
    assert together != apart
    assert together.digest() != apart.digest()


def test_where_it_comes_from_does_not_count():
    result = Workload.from_dict({"blocks": BLOCKS}, origin="elsewhere")
    assert result == workload()
    assert result.digest() == workload().digest()


def test_a_workload_equals_nothing_else():
    assert workload() != workload().to_dict()


def test_a_workload_is_frozen():
    result = workload()
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.kind = result.kind
    with pytest.raises(ValueError, match="read-only"):
        result.amount[0] = 7


def test_a_workload_has_no_hash():
    with pytest.raises(TypeError, match="unhashable"):
        hash(workload())


# What is refused

HERE = "blocks[0].warps[0][1]"
LEAST_1 = "must be a whole number of at least 1"
CHUNK = "must be a whole number from 0 to 2^63 - 1"
WHOLE_LIST = "must be a list of at least one chunk"
MALFORMED = {
    "no object": ([], "the workload: must be an object with blocks, blocks_per_group, cluster, in_graph, launches"),
    "nothing": ({}, "must have either 'blocks' or 'launches'"),
    "both": ({"blocks": [], "launches": []}, "must have either 'blocks' or 'launches'"),
    "misspelt": ({"block": []}, "the workload: unknown key 'block'; did you mean 'blocks'"),
    "misspelt launches": ({"launchs": []}, "the workload: unknown key 'launchs'; did you mean 'launches'?"),
    "limit beside launches": (
        {"launches": [], "blocks_per_group": 1}, "the workload: unknown key 'blocks_per_group'; known: launches"
    ),
    "blocks no list": ({"blocks": 3}, "blocks = 3: must be a list"),
    "blocks a text": ({"blocks": "ab"}, "blocks = 'ab': must be a list"),
    "blocks null": ({"blocks": None}, "blocks = None: must be a list"),
    "launches no list": ({"launches": {}}, "launches = {}: must be a list"),
    "launch no object": ({"launches": [3]}, "launches[0]: must be an object with blocks"),
    "launch without blocks": ({"launches": [{"blocks": []}, {}]}, "launches[1]: 'blocks' is missing"),
    "launch misspelt": (
        {"launches": [{"blocks": [], "block_per_group": 2}]},
        "launches[0]: unknown key 'block_per_group'; did you mean 'blocks_per_group'",
    ),
    "in no graph": (
        {"launches": [{"blocks": [], "in_graph": 1}]}, "launches[0].in_graph = 1: must be true or false",
    ),
    "limit 0": ({"launches": [{"blocks": [], "blocks_per_group": 0}]}, f"launches[0].blocks_per_group = 0: {LEAST_1}"),
    "cluster 0": ({"launches": [{"blocks": [], "cluster": 0}]}, f"launches[0].cluster = 0: {LEAST_1}"),
    "cluster text": ({"blocks": [], "cluster": "2"}, f"cluster = '2': {LEAST_1}"),
    "limit bool": ({"blocks": [], "blocks_per_group": True}, f"blocks_per_group = True: {LEAST_1}"),
    "limit null": ({"blocks": [], "blocks_per_group": None}, f"blocks_per_group = None: {LEAST_1}"),
    "block no object": ({"blocks": [{"warps": []}, []]}, "blocks[1]: must be an object with warps"),
    "block without warps": ({"blocks": [{}]}, "blocks[0]: 'warps' is missing"),
    "block misspelt": ({"blocks": [{"warp": []}]}, "blocks[0]: unknown key 'warp'; did you mean 'warps'?"),
    "warps no list": ({"blocks": [{"warps": {}}]}, "blocks[0].warps = {}: must be a list"),
    "warp no list": ({"blocks": [{"warps": [[], 7]}]}, "blocks[0].warps[1] = 7: must be a list"),
    "in a launch": (
        {"launches": [{"blocks": []}, {"blocks": [{"warps": 1}]}]}, "launches[1].blocks[0].warps = 1: must be a list"
    ),
    "operation a text": (
        one("barrier"),
        f"{HERE}: 'barrier' is not an operation: must be a list such as ['compute', 4]",
    ),
    "operation empty": (one([]), f"{HERE}: [] is not an operation: must be a list such as ['compute', 4]"),
    "operation a number": (one(3), f"{HERE}: 3 is not an operation: must be a list such as ['compute', 4]"),
    "operation null": (one(None), f"{HERE}: None is not an operation: must be a list such as ['compute', 4]"),
    "unknown": (one(["laod", [1]]), f"{HERE}: unknown operation 'laod'; did you mean 'load'?"),
    "unknown and far": (
        one(["xyz"]),
        f"{HERE}: unknown operation 'xyz'; known: async, atomic, barrier, compute, copy, drain, finish, "
        "give_registers, grid_barrier, join, load, mbarrier, pause, product, reduce, remote, settle, shared, store, "
        "store_group, sync, take_registers",
    ),
    "word no text": (one([7, 7]), f"{HERE}: unknown operation 7; known: "),
    "word a list": (one([["load"], 7]), f"{HERE}: unknown operation ['load']; "),
    "compute alone": (one(["compute"]), f"{HERE}: compute takes one or two arguments, not 0"),
    "compute twice": (one(["compute", 1, 2]), f"{HERE}: compute: unknown class 2; known: fp16, fp32, fp64, integer"),
    "class that is none": (one(["compute", 1, "fp46"]), f"{HERE}: compute: unknown class 'fp46'; did you mean 'fp64'"),
    "class that is a list": (one(["compute", 1, ["fp64"]]), f"{HERE}: compute: unknown class ['fp64']"),
    "compute of two classes": (one(["compute", 1, "fp64", "fp32"]), f"{HERE}: compute takes one or two arguments"),
    "load alone": (one(["load"]), f"{HERE}: load takes one to three arguments, not 0"),
    "load of numbers": (one(["load", 1, 2]), f"{HERE}: load 1: must be a list of at least one chunk"),
    "join twice": (one(["join", 1, 2]), f"{HERE}: join takes at most one argument, not 2"),
    "barrier with one": (one(["barrier", 0]), f"{HERE}: barrier takes no argument, not 1"),
    "sync with one": (one(["sync", 1]), f"{HERE}: sync takes no argument, not 1"),
    "compute 0": (one(["compute", 0]), f"{HERE}: compute 0: {LEAST_1}"),
    "compute -1": (one(["compute", -1]), f"{HERE}: compute -1: {LEAST_1}"),
    "compute 1.5": (one(["compute", 1.5]), f"{HERE}: compute 1.5: {LEAST_1}"),
    "compute 2.0": (one(["compute", 2.0]), f"{HERE}: compute 2.0: {LEAST_1}"),
    "compute true": (one(["compute", True]), f"{HERE}: compute True: {LEAST_1}"),
    "compute text": (one(["compute", "4"]), f"{HERE}: compute '4': {LEAST_1}"),
    "compute null": (one(["compute", None]), f"{HERE}: compute None: {LEAST_1}"),
    "compute list": (one(["compute", [4]]), f"{HERE}: compute [4]: {LEAST_1}"),
    "compute 2^63": (one(["compute", 2**63]), f"{HERE}: compute {2**63}: {LEAST_1}"),
    "shared 0": (one(["shared", 0]), f"{HERE}: shared 0: {LEAST_1}"),
    "shared true": (one(["shared", True]), f"{HERE}: shared True: {LEAST_1}"),
    "pause alone": (one(["pause"]), f"{HERE}: pause takes one argument, not 0"),
    "pause twice": (one(["pause", 1, 2]), f"{HERE}: pause takes one argument, not 2"),
    "pause 0": (one(["pause", 0]), f"{HERE}: pause 0: {LEAST_1}"),
    "pause 1.5": (one(["pause", 1.5]), f"{HERE}: pause 1.5: {LEAST_1}"),
    "pause true": (one(["pause", True]), f"{HERE}: pause True: {LEAST_1}"),
    "pause list": (one(["pause", [4]]), f"{HERE}: pause [4]: {LEAST_1}"),
    "pause 2^63": (one(["pause", 2**63]), f"{HERE}: pause {2**63}: {LEAST_1}"),
    "join -1": (one(["join", -1]), f"{HERE}: join -1: must be a whole number of at least 0"),
    "join true": (one(["join", True]), f"{HERE}: join True: must be a whole number of at least 0"),
    "join null": (one(["join", None]), f"{HERE}: join None: must be a whole number of at least 0"),
}  # fmt: skip
for _word in ("load", "async", "store", "atomic"):
    MALFORMED |= {
        f"{_word} nothing": (one([_word, []]), f"{HERE}: {_word} []: {WHOLE_LIST}"),
        f"{_word} a number": (one([_word, 3]), f"{HERE}: {_word} 3: {WHOLE_LIST}"),
        f"{_word} a text": (one([_word, "123"]), f"{HERE}: {_word} '123': {WHOLE_LIST}"),
        f"{_word} null": (one([_word, None]), f"{HERE}: {_word} None: {WHOLE_LIST}"),
        f"{_word} -1": (one([_word, [0, -1]]), f"{HERE}: {_word}: chunk -1: {CHUNK}"),
        f"{_word} 2^63": (one([_word, [2**63]]), f"{HERE}: {_word}: chunk {2**63}: {CHUNK}"),
        f"{_word} true": (one([_word, [True]]), f"{HERE}: {_word}: chunk True: {CHUNK}"),
        f"{_word} 1.0": (one([_word, [1.0]]), f"{HERE}: {_word}: chunk 1.0: {CHUNK}"),
        f"{_word} lists": (one([_word, [[1]]]), f"{HERE}: {_word}: chunk [1]: {CHUNK}"),
    }


def complaint(path):
    with pytest.raises(WorkloadError) as caught:
        load_workload(path)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(f"{path}: ")
    return line.removeprefix(f"{path}: ")


@pytest.mark.parametrize(("document", "line"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_workload_is_refused_with_file_place_and_what_is_allowed(tmp_path, document, line):
    path = tmp_path / "w.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert complaint(path).startswith(line)


@pytest.mark.parametrize(
    "text",
    [b"", b"blocks", b'{"blocks": [{"warps": [[["compute", 4]', b"\xff\xfe{}", b"[" * 100_000, b"{'blocks': []}"],
)
def test_what_is_not_json_is_refused(tmp_path, text):
    path = tmp_path / "w.json"
    path.write_bytes(text)
    assert complaint(path).startswith("is not JSON (")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e400"])
def test_a_number_that_json_does_not_have_is_refused(tmp_path, number):
    path = tmp_path / "w.json"
    path.write_text(json.dumps(one(["compute", 0])).replace("0]]]}", f"{number}]]]}}"), encoding="utf-8")
    assert complaint(path).endswith(LEAST_1)


def test_a_number_of_5000_digits_is_refused(tmp_path):
    path = tmp_path / "w.json"
    path.write_text(f'{{"blocks": [{{"warps": [[["compute", {"1" * 5000}]]]}}]}}', encoding="utf-8")
    assert complaint(path)


def test_a_long_key_is_shortened_in_the_complaint(tmp_path):
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"x" * 10_000: 1}), encoding="utf-8")
    assert len(complaint(path)) < 300


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert complaint(tmp_path / "w.json") == "can't be read (No such file or directory)"


def test_a_folder_is_refused(tmp_path):
    assert complaint(tmp_path) == "can't be read (Is a directory)"


def test_the_bound_of_chunks_is_the_largest_64_bit_integer():
    assert np.iinfo(np.int64).max == LARGEST


# Saving


def test_a_workload_that_can_not_be_put_in_place_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "w.json"
    path.write_text("old", encoding="utf-8")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OutputError) as caught:
        workload().save(path)
    assert str(caught.value) == f"{path}: can't be written (No space left on device)"
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["w.json"]


def test_saving_over_an_old_file_replaces_it(tmp_path):
    path = tmp_path / "w.json"
    path.write_text("old", encoding="utf-8")
    workload().save(path)
    assert load_workload(path) == workload()
    assert os.listdir(tmp_path) == ["w.json"]


def test_a_file_that_is_too_large_for_memory_is_refused_before_it_is_read(monkeypatch):
    monkeypatch.setattr("simtmm.workload.held.LARGEST_FILE", 1 << 20)
    monkeypatch.setattr("simtmm.workload.held.available_memory", lambda: 0)
    with pytest.raises(WorkloadError, match="/dev/zero: is too large: must be at most 1 MiB"):
        load_workload("/dev/zero")


def test_a_key_that_comes_twice_is_refused(tmp_path):
    """One of the two was left out without a word."""
    (tmp_path / "w.json").write_text('{"blocks": [], "blocks": [{"warps": [[["compute", 1]]]}]}')
    with pytest.raises(WorkloadError, match=r"w.json: is not JSON \(key 'blocks' appears more than once\)"):
        load_workload(tmp_path / "w.json")


def test_a_workload_has_room_for_the_sectors_that_a_machine_may_have():
    assert (MOST_SECTORS, MOST_SECTOR_BYTES) == (memory.MOST_SECTORS, memory.MOST_SECTOR_BYTES)


def test_bytes_of_sectors_go_to_json_and_back():
    operations = [["load", [0, 1], 1, [[4], []]], ["store", [2], 3, [[0, 255, 0, 1]]], ["reduce", [3, 3]]]
    result = Workload.from_dict({"blocks": [{"warps": [operations]}]})
    assert result.sectors.dtype == np.uint32
    assert result.sectors.tolist() == [4, 0, 255 << 8 | 1 << 24, 0, 0]
    assert list(result.warp(0)) == operations
    assert Workload.from_dict(result.to_dict()) == result
    other = Workload.from_dict({"blocks": [{"warps": [[["load", [0, 1]], *operations[1:]]]}]})
    assert other != result
    assert other.digest() != result.digest()


def test_a_workload_that_says_nothing_of_sectors_has_none():
    whole = Workload.from_dict({"blocks": [{"warps": [[["load", [0, 1], 1, [[], [0, 0]]]]]}]})
    assert len(whole.sectors) == 0
    assert whole == Workload.from_dict({"blocks": [{"warps": [[["load", [0, 1]]]]}]})
