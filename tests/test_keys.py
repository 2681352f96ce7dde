"""Keys of what is kept: each part of what decides a result is in the key by which the result is found again.

A table names a value and another for each part, an argument or a field, and must name them all: one that is added later
is missed here until somebody says whether it is in the key.
"""

import dataclasses
import hashlib
import inspect
import json

import pytest

from simtmm import load_machine
from simtmm.cuda.compilers.kept import key_of
from simtmm.cuda.execution.translation import kept_code
from simtmm.explorer.state import Configuration
from simtmm.study.design.by_sample import BySample
from simtmm.study.design.points import point_key
from simtmm.study.design.rules import Rule
from simtmm.study.evaluation.cases import Ran
from simtmm.study.evaluation.recorded_traces import is_recorded, trace_key
from simtmm.study.evaluation.steps import counting_key, lowering_key
from simtmm.trace.specification import CountingSpecification, LoweringSpecification

MACHINE = load_machine("gtx480")
OTHER = MACHINE.replace({"memory.latency": 7})
RULE = Rule("youngest", "d1")
RAN = {
    "source": ("reduction", "scan"),
    "digest": ("d1", "d2"),
    "parameters": ({"n": 1}, {"n": 2}),
    "architecture": (80, 90),
    "form": ("written", "compiled"),
    "files": ("f1", "f2"),
}


def keys_apart(make, parts, apart=()):
    """Keys of the first values, and of each other value in its turn: all must differ, but those of parts `apart`."""
    first = {name: values[0] for name, values in parts.items()}
    plain = make(**first)
    assert make(**first) == plain
    for name, (_, *others) in parts.items():
        found = [make(**{**first, name: other}) for other in others]
        if name in apart:
            assert set(found) == {plain}, name
        else:
            assert len({plain, *found}) == 1 + len(others), name


def covers(make, parts, left_out=()):
    """Whether a table names all arguments."""
    return {*parts, *left_out} == set(inspect.signature(make).parameters)


def test_a_recorded_trace_is_found_by_all_that_decides_it():
    parts = {
        "kernel": ("reduction", "scan"),
        "digest": ("d1", "d2"),
        "parameters": ({"n": 1}, {"n": 2}, {"m": 1}, {"n": "1"}, {}),
        "architecture": (None, 75, 80, 0),
        "form": (None, "written", ""),
    }
    assert covers(trace_key, parts)
    keys_apart(trace_key, parts)
    keys_apart(trace_key, {**parts, "architecture": (80, 90, None), "form": ("compiled", None)})


@pytest.mark.parametrize("module", ["recorder", "trace", "kernel.py", "parameter", "cuda"])
def test_a_recorded_trace_is_another_when_what_records_it_is_edited(module, monkeypatch):
    before = trace_key("reduction", "d1", {}, 80)
    written = trace_key("reduction", "d1", {})
    edited = "simtmm.study.evaluation.recorded_traces.sources"
    monkeypatch.setattr(edited, lambda *parts: f"{parts} edited" if module in parts else f"{parts}")
    there = trace_key("reduction", "d1", {}, 80), trace_key("reduction", "d1", {})
    monkeypatch.setattr(edited, lambda *parts: f"{parts}")
    plain = trace_key("reduction", "d1", {}, 80), trace_key("reduction", "d1", {})
    assert there[0] != plain[0]
    assert (there[1] == plain[1]) == (module == "cuda")  # what is recorded as written is compiled by nobody
    assert before != written


def test_a_trace_of_other_compilers_is_another(monkeypatch):
    before = trace_key("reduction", "d1", {}, 80), trace_key("reduction", "d1", {})
    monkeypatch.setattr("simtmm.cuda.compilers.release.compilers_key", lambda: "others")
    after = trace_key("reduction", "d1", {}, 80), trace_key("reduction", "d1", {})
    assert (before[0] == after[0], before[1] == after[1]) == (False, True)


def test_a_trace_is_recorded_for_the_architecture_that_it_was_recorded_for(monkeypatch, tmp_path):
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path / "cache"))
    from simtmm import cache

    of = ("reduction", "d1", {"n": 1}, 80)
    cache.keep(cache.own_folder("traces"), *trace_key(*of), lambda path: path.write_bytes(b"trace"))
    assert is_recorded(*of)
    for part, other in enumerate(("scan", "d2", {"n": 2}, 90)):
        assert not is_recorded(*of[:part], other, *of[part + 1 :])


def test_a_point_is_found_by_all_that_decides_it():
    parts = {
        "digest": ("d1", "d2"),
        "parameters": ({"n": 1}, {"n": 2}, {"m": 1}, {}),
        "machine": (MACHINE, OTHER),
        "engine": ("fast", "reference"),
        "compiled": (False, True),
        "sources": (None, "s1", "s2"),
    }
    assert covers(point_key, parts, left_out=["more"])
    keys_apart(point_key, parts)
    more = {"more": ((), (1,), (1, 2), RULE.content(), BySample(0.02).content)}
    keys_apart(lambda more: point_key("d1", {}, MACHINE, "fast", False, *more), more)


def test_what_is_compiled_for_a_machine_is_a_point_by_its_target_and_the_compilers(monkeypatch):
    newer = MACHINE.replace({"compute_capability": "9.0"})
    assert newer.digest() == MACHINE.digest()
    targets = {"machine": (MACHINE, newer)}
    keys_apart(lambda machine: point_key("d1", {}, machine, "fast", True), targets)
    keys_apart(lambda machine: point_key("d1", {}, machine, "fast", False), targets, apart=["machine"])
    before = [point_key("d1", {}, MACHINE, "fast", compiled) for compiled in (True, False)]
    monkeypatch.setattr("simtmm.cuda.compilers.release.chosen_compilers", lambda: ["chosen"])
    after = [point_key("d1", {}, MACHINE, "fast", compiled) for compiled in (True, False)]
    assert (before[0] == after[0], before[1] == after[1]) == (False, True)


def test_a_case_is_found_by_all_that_decides_it():
    """As its point is; the source is a name, and `files` decides the recording."""
    assert {each.name for each in dataclasses.fields(Ran)} == set(RAN)
    keys_apart(
        lambda machine, engine, rule, **ran: Ran(**ran).key(machine, engine, rule),
        {
            **RAN,
            "architecture": (None, 80),
            "form": (None, "written", "compiled"),
            "machine": (MACHINE, OTHER),
            "engine": ("reference", "fast"),
            "rule": (None, RULE, Rule("oldest", "d1"), Rule("youngest", "d2")),
        },
        apart=["source", "files"],
    )
    samples = {"engine": (BySample(0.02), BySample(0.03), "fast")}
    keys_apart(lambda engine: Ran("reduction", "d1", {}).key(MACHINE, engine), samples)


def test_a_case_s_recording_is_all_that_decides_it():
    keys_apart(lambda **ran: repr(Ran(**ran).recording), RAN, apart=["digest"])  # where `files` is given,
    without = {**RAN, "files": ("",)}  # else the digest
    keys_apart(lambda **ran: repr(Ran(**ran).recording), without)


LOWERING = {
    "warp_width": (32, 16), "chunk_bytes": (128, 64), "half_warp_segments": (False, True), "banks": (32, 16),
    "bank_bytes": (4, 8), "lanes_together": (32, 16), "atomics_by_word": (False, True), "reduces": (False, True),
    "shared_latency": (0, 1, 2), "instruction_holds": ((), (("fma", 1.0),), (("fma", 2.0),), (("special", 1.0),)),
    "pipes": ((), ("fma",), ("special",)), "shared_interval": (0, 1, 2), "shared_ports": (0, 1, 2),
    "pipe": ((), (32, 32, 128, 0), (4, 32, 128, 0), (32, 64, 128, 0), (32, 32, 64, 0), (32, 32, 128, 4)),
    "stalls": ("", "overlap", "none"), "hides": ((), (1.0,), (2.0,)), "barrier": ((), (2, 1), (3, 1), (2, 2)),
    "atomic_passes": (0, 2, 3), "sector_bytes": (0, 32, 64),
    "latencies": ((), (("special", 17),), (("special", 18),), (("shuffle", 17),)),
    "operands": ((), (("fp32", 0.0),), (("fp32", 1.0),)), "grid_barriers": (False, True), "pass_bytes": (0, 128),
    "cluster_barrier": ((), (2, 1, 1), (3, 1, 1), (2, 2, 1), (2, 1, 2)), "remote_latency": (0, 1, 2),
    "fences": ((), (("device", 550),), (("device", 551),), (("system", 550),)),
    "remote_ways": (False, True), "places": (False, True),
}  # fmt: skip
COUNTING = {"groups": (15, 16), "processors": (480, 512), "waits_for_stores": (False, True)}


def test_a_workload_is_found_by_each_field_of_what_it_is_lowered_by():
    assert {each.name for each in dataclasses.fields(LoweringSpecification)} == set(LOWERING)
    keys_apart(lambda **fields: LoweringSpecification(**fields).digest, LOWERING)


def test_a_later_field_that_keeps_the_earlier_behaviour_leaves_the_digest_as_it_was():
    """What was kept before there was such a field is still found: of a default, nothing is in the digest."""
    fields = dataclasses.fields(LoweringSpecification)
    first = {each.name: LOWERING[each.name][0] for each in fields if each.default is dataclasses.MISSING}
    content = json.dumps(first, sort_keys=True)
    assert LoweringSpecification(**first).digest == hashlib.sha256(content.encode()).hexdigest()[:20]
    counting = {"lowering": first, **{name: values[0] for name, values in COUNTING.items()}}
    found = CountingSpecification(**{**counting, "lowering": LoweringSpecification(**first)})
    assert found.digest == hashlib.sha256(json.dumps(counting, sort_keys=True).encode()).hexdigest()[:20]


def test_counts_are_found_by_each_field_of_what_they_are_counted_by():
    parts = {**LOWERING, **COUNTING}
    assert {each.name for each in dataclasses.fields(CountingSpecification)} == {"lowering", *COUNTING}

    def digest(groups, processors, waits_for_stores, **lowering):
        return CountingSpecification(LoweringSpecification(**lowering), groups, processors, waits_for_stores).digest

    keys_apart(digest, parts)


# By what is changed of a machine; of those that lowering does not look at, counting alone differs.
@pytest.mark.parametrize(
    ("changes", "lowers"),
    [
        ({"cores.warp_width": 16}, True),
        ({"memory.chunk_words": 8}, True),
        ({"memory.coalescing": "half-warp-segments"}, True),
        ({"banks.count": 16}, True),
        ({"banks.word_bytes": 8}, True),
        ({"banks.lanes": 16}, True),
        ({"banks.service": 3}, True),
        ({"banks.latency": 5}, True),
        ({"banks.interval": 4}, True),
        ({"memory.atomics": "by-word"}, True),
        ({"memory.reductions": "posted"}, True),
        ({"cores.groups": 3}, False),
        ({"cores.max_threads_per_core": 8}, False),
        ({"limits.blocks_per_group": 2}, False),
        ({"resources.shared_memory": 1024}, False),
        ({"resources.registers": 1024}, False),
    ],
)
def test_each_key_of_a_machine_that_lowering_or_counting_looks_at_is_in_its_key(changes, lowers):
    other = MACHINE.replace(changes)
    assert (lowering_key(other) != lowering_key(MACHINE)) == lowers
    assert counting_key(other) != counting_key(MACHINE)


def test_a_latency_decides_neither():
    assert lowering_key(OTHER) == lowering_key(MACHINE)
    assert counting_key(OTHER) == counting_key(MACHINE)


def test_a_rule_adds_its_name_and_its_content_to_a_key():
    parts = {"name": ("youngest", "oldest"), "digest": ("d1", "d2"), "path": ("a.py", "b.py")}
    assert {each.name for each in dataclasses.fields(Rule)} == set(parts)
    keys_apart(lambda **fields: Rule(**fields).content(), parts, apart=["path"])


def test_a_configuration_of_the_live_page_is_told_apart_by_all_of_it():
    parts = {
        "program": ("scan", "merge"),
        "machine": ("gtx480", "gtx280"),
        "controls": ({}, {"latency": "1"}, {"latency": "2"}, {"width": "1"}),
        "parameters": ({}, {"latency": "1"}, {"latency": "2"}, {"n": "1"}),
    }
    assert {each.name for each in dataclasses.fields(Configuration)} == set(parts)
    keys_apart(lambda **fields: Configuration(**fields).key, parts)


def test_machine_code_is_kept_by_its_assembly_and_how_it_is_compiled(monkeypatch):
    parts = {"assembly": ("ret", "add"), "quick": (False, True)}
    assert covers(kept_code._key, parts)
    keys_apart(kept_code._key, parts)
    before = kept_code._key("ret", False)
    monkeypatch.setattr(kept_code, "_circumstances", lambda: "another processor")
    assert kept_code._key("ret", False) != before


def test_a_key_of_texts_tells_where_one_ends():
    keys = [key_of(parts) for parts in (["a", "b"], ["ab"], ["a", "b", ""], ["b", "a"], ["a\0001\0b"], [])]
    assert len(set(keys)) == len(keys)
