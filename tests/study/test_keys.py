"""Keys: what is kept is found again by all that decides it, and by nothing else.

Each function of a key is called with each of its arguments changed, one at a time, and has to give another key. What
has fields of its own, a rule or a subject say, has each of them changed. The list of what is changed is compared with
the signature or the fields, so that what is added later can't be left out of a key, or of this page.
"""

import dataclasses
import inspect
import os
from dataclasses import dataclass, replace

import pytest

from simtmm import load_machine
from simtmm.analysis.tuning.kept import KeptTrials
from simtmm.analysis.tuning.trial import Subject
from simtmm.cuda.compilers import kept as compilers_kept
from simtmm.cuda.execution.translation import kept_code
from simtmm.errors import StudyError
from simtmm.study.design.by_sample import BySample
from simtmm.study.design.points import point_key, points_of
from simtmm.study.design.rules import Rule, rules_in
from simtmm.study.evaluation.cases import Ran
from simtmm.study.evaluation.closed_forms import ClosedForms
from simtmm.study.evaluation.recorded_traces import trace_key
from simtmm.study.store.kept import kept_store
from simtmm.study.store.store import Store
from simtmm.study.sweep import read, sweep
from simtmm.trace.digest import TraceDigest
from simtmm.trace.schema import TraceArray, TraceLaunch, TraceSite
from simtmm.trace.specification import CountingSpecification, LoweringSpecification
from tests.study.programs import designed, write

MACHINE = load_machine("a100-80")
RULE = Rule("youngest", "digest", "rules.py")


def names_of(function):
    """The parameters that a function has, its own and what is beside the key apart."""
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


def all_apart(key, given, others):
    """Have each argument changed, one at a time, to each of its other values, and no two of the keys be equal.

    key: a function of all arguments by name. given: a value of each. others: by name, its other values.
    """
    keys = {"as given": key(**given)}
    for name, values in others.items():
        for value in values:
            keys[f"{name} = {value}"] = key(**{**given, name: value})
    assert keys["as given"] == key(**given)  # a key that is drawn anew tells nothing
    by_key = {}
    for what, found in keys.items():
        by_key.setdefault(found, []).append(what)
    assert [same for same in by_key.values() if len(same) > 1] == []


# Recorded traces, and the points and cases that are computed from them


def test_a_recorded_trace_is_kept_by_all_that_decides_it():
    given = {"kernel": "k", "digest": "d", "parameters": {"n": 1}, "architecture": 80, "form": None}
    others = {
        "kernel": ["other"],
        "digest": ["e"],
        "parameters": [{"n": 2}, {"m": 1}, {}],
        "architecture": [90, None],
        "form": ["compiled", "as written"],
    }
    assert list(others) == names_of(trace_key)
    all_apart(trace_key, given, others)


@pytest.mark.parametrize("part", ["recorder", "trace", "kernel.py", "parameter", "cuda"])
def test_a_recorded_trace_is_kept_by_the_sources_that_record_it(part, monkeypatch):
    before = trace_key("k", "d", {}, 80)
    changed_sources(monkeypatch, "simtmm.study.evaluation.recorded_traces.sources", part)
    assert trace_key("k", "d", {}, 80) != before


def changed_sources(monkeypatch, place, part):
    """Have a part of the package be another: hashes of sources with it change, and no others."""
    monkeypatch.setattr(place, lambda *parts: f"{sorted(set(parts) - {part})}{'edited' if part in parts else part}")


def test_a_point_is_kept_by_all_that_decides_its_results():
    given = {
        "digest": "d", "parameters": {"n": 1}, "machine": MACHINE, "engine": "fast", "compiled": True, "more": (),
        "sources": "now",
    }  # fmt: skip
    others = {
        "digest": ["e"],
        "parameters": [{"n": 2}, {"m": 1}],
        "machine": [MACHINE.replace({"memory.latency": 77}), MACHINE.replace({"compute_capability": "9.0"})],
        "engine": ["reference"],
        "compiled": [False],
        "more": [("rule", "a", "b"), ("rule", "a", "c"), ("rule", "b", "b")],
        "sources": ["earlier", None],
    }
    assert list(others) == names_of(point_key)

    def key(digest, parameters, machine, engine, compiled, more, sources):
        return point_key(digest, parameters, machine, engine, compiled, *more, sources=sources)

    all_apart(key, given, others)


def test_the_order_of_parameters_does_not_matter():
    keys = {point_key("d", each, MACHINE, "fast", False) for each in ({"n": 1, "m": "x"}, {"m": "x", "n": 1})}
    assert len(keys) == 1


def test_what_is_not_compiled_for_a_machine_is_the_same_on_any_architecture():
    keys = {point_key("d", {}, MACHINE.replace({"compute_capability": of}), "fast", False) for of in ("8.0", "9.0")}
    assert len(keys) == 1


def test_a_case_is_kept_by_all_that_decides_it():
    """The name of a source apart, and the comments of its files, which no result depends on."""
    given = {
        "source": "k", "digest": "d", "parameters": {"n": 1}, "architecture": 80, "form": None, "files": "f",
        "machine": MACHINE, "engine": "reference", "rule": None,
    }  # fmt: skip
    others = {
        "digest": ["e"],
        "parameters": [{"n": 2}],
        "architecture": [None],  # which one is the machine's
        "form": ["compiled"],
        "machine": [MACHINE.replace({"memory.latency": 77}), MACHINE.replace({"compute_capability": "9.0"})],
        "engine": ["fast", BySample(0.05), BySample(0.1)],
        "rule": [RULE, replace(RULE, name="other"), replace(RULE, digest="other")],
    }

    def key(machine, engine, rule, **ran):
        return Ran(**ran).key(machine, engine, rule)

    fields = [field.name for field in dataclasses.fields(Ran)]
    assert {"source", "files", *others} == {*fields, *names_of(Ran.key)}
    all_apart(key, given, others)
    assert key(**given) == key(**{**given, "source": "elsewhere", "files": "g"})


def test_a_recording_of_a_case_is_kept_by_all_that_decides_it():
    given = {"source": "k", "digest": "d", "parameters": {"n": 1}, "architecture": 80, "form": None, "files": "f"}
    others = {
        "source": ["other"], "parameters": [{"n": 2}], "architecture": [90, None], "form": ["compiled"],
        "files": ["g", ""],
    }  # fmt: skip
    assert {"digest", *others} == {field.name for field in dataclasses.fields(Ran)}  # stands for files that are none
    all_apart(lambda **ran: trace_key(*Ran(**ran).recording), given, others)
    all_apart(lambda **ran: trace_key(*Ran(**ran).recording), {**given, "files": ""}, {"digest": ["e"]})


def test_a_rule_adds_what_it_is_called_and_does_and_not_where_it_lies():
    assert {field.name for field in dataclasses.fields(Rule)} == {"name", "digest", "path"}
    changed = [replace(RULE, name="other"), replace(RULE, digest="other")]
    assert len({RULE.content(), *(each.content() for each in changed)}) == 3
    assert replace(RULE, path="elsewhere").content() == RULE.content()


def test_a_sample_adds_all_that_it_says():
    assert [field.name for field in dataclasses.fields(BySample)] == ["error"]
    assert BySample(0.05).content != BySample(0.1).content


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = write(tmp_path_factory.mktemp("keys"))
    (made / "a.py").write_text("def own(ready, group):\n    return ready[0]\n", encoding="utf-8")
    (made / "b.py").write_text("def own(ready, group):\n    return ready[-1]\n", encoding="utf-8")
    return made


def test_what_an_earlier_simtmm_computed_is_found_again_by_the_same_rule_and_sample_alone(
    folder, tmp_path, monkeypatch
):
    """Whatever else a point's key is of has to be told again of each earlier run."""
    axes = {"scheduling.scheduler": ["own"]}
    studies = {
        "by the machine": designed(folder),
        "by the reference engine": designed(folder, engine="reference"),
        "by a rule": replace(designed(folder, axes=axes), rules=rules_in([folder / "a.py"])),
        "by another of that name": replace(designed(folder, axes=axes), rules=rules_in([folder / "b.py"])),
        "by a sample": designed(folder, sample_error=0.05),
        "by a coarser sample": designed(folder, sample_error=0.2),
    }
    paths = {name: tmp_path / f"{number}.sqlite" for number, name in enumerate(studies)}
    for name, design in studies.items():
        sweep(design, paths[name], workers=1)
    monkeypatch.setattr("simtmm.provenance.sources", lambda *parts: "edited")
    for kept, path in paths.items():
        with Store(path, make=False) as store:
            found = [name for name, design in studies.items() if is_known(design, store)]
        assert found == [kept]


def is_known(design, store):
    """Whether a store has the only point of a study."""
    try:
        return read(design, store).rows[0].status == "done"
    except StudyError:  # none of its points belongs to this study
        return False


def test_points_of_two_rules_of_one_name_are_two(folder):
    axes = {"scheduling.scheduler": ["own"]}
    points = [
        points_of(replace(designed(folder, axes=axes), rules=rules_in([folder / name])))[0] for name in ("a.py", "b.py")
    ]
    assert points[0].key != points[1].key
    assert [point.rule.path for point in points] == [str((folder / name).resolve()) for name in ("a.py", "b.py")]


@pytest.mark.parametrize(
    "part", ["engine", "model", "trace", "machine", "kernel.py", "parameter", "workload", "result.py"]
)
def test_points_and_stores_are_kept_by_the_sources_that_compute_them(part, monkeypatch, tmp_path):
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path))
    before = point_key("d", {}, MACHINE, "fast", False), kept_store("program", "d")
    changed_sources(monkeypatch, "simtmm.provenance.sources", part)
    after = point_key("d", {}, MACHINE, "fast", False), kept_store("program", "d")
    assert all(old != new for old, new in zip(before, after, strict=True))


def test_a_store_in_the_cache_is_of_one_program(monkeypatch, tmp_path):
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path))
    all_apart(kept_store, {"name": "program", "digest": "d"}, {"name": ["other"], "digest": ["e"]})
    assert names_of(kept_store) == ["name", "digest"]


def test_a_store_that_is_used_is_the_last_to_go(monkeypatch, tmp_path):
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path))
    used, other = (kept_store(name, "d") for name in ("used", "other"))
    for path in (used, other):
        with Store(path):
            pass
    size = max(path.stat().st_size for path in (used, other))
    for path, time in ((used, 1), (other, 2)):
        os.utime(path, (time, time))
    kept_store("used", "d")
    assert used.stat().st_mtime > other.stat().st_mtime
    monkeypatch.setattr("simtmm.study.store.kept.MOST_KEPT", size)
    kept_store("third", "d")
    assert (used.exists(), other.exists()) == (True, False)


# Parts of large studies of closed forms


def test_a_part_of_closed_forms_is_kept_by_all_of_its_study(folder):
    base = {"program": "list-ranking", "axes": {"n": [1000, 10000]}, "parameters": {"T": 4}, "machines": ["gtx280"]}
    changes = [
        {"axes": {"n": [1000, 20000]}},
        {"axes": {"T": [1000, 10000]}, "parameters": {"n": 4}},
        {"parameters": {"T": 5}},
        {"machines": ["gtx480"]},
        {"set": {"memory.latency": 77}},
        {"compute": ["pram"]},
        {"constraints": ["n < 5000"]},
        {"program": "list-ranking", "sample": {"points": 2, "axes": {"memory.latency": "100:400:log"}}},
    ]
    found = [first_part(folder, **{**base, **change}) for change in ({}, *changes)]
    assert len(set(found)) == len(found)


def first_part(folder, **tables):
    return next(iter(ClosedForms(designed(folder, **tables))._parts))


# Trials of a search


def test_a_trial_is_kept_by_all_that_decides_it(tmp_path):
    """The name of a source apart: its content stands for it."""
    subject = {
        "source": "vector-add", "fixed": {"n": 1000}, "machine": MACHINE, "form": None, "models": ("tmm",),
    }  # fmt: skip
    given = {**subject, "content": "c", "configuration": {"side": 16}, "precision": 0.05}
    others = {
        "fixed": [{"n": 2000}],
        "machine": [MACHINE.replace({"memory.latency": 77}), MACHINE.replace({"compute_capability": "9.0"})],
        "form": ["compiled"],
        "models": [(), ("tmm", "rehman"), ("rehman",)],
        "content": ["d"],
        "configuration": [{"side": 8}, {"side": 16, "memory.latency": 99}],
        "precision": [0.1, None],
    }
    assert {"source", *(name for name in others if name in subject)} == {f.name for f in dataclasses.fields(Subject)}
    assert {"configuration", "precision"} == set(names_of(KeptTrials._key))
    assert {"path", "subject", "content"} == set(names_of(KeptTrials))

    def key(content, configuration, precision, **subject):
        with KeptTrials(tmp_path / "t.sqlite", Subject(**subject), content) as kept:
            return kept._key(configuration, precision)

    all_apart(key, given, others)


@pytest.mark.parametrize(
    "part",
    ["cuda", "engine", "machine", "model", "recorder", "sampling", "trace", "workload", "native", "analysis/tuning"],
)
def test_a_trial_is_kept_by_the_sources_that_decide_it(part, monkeypatch, tmp_path):
    def key():
        subject = Subject("vector-add", {}, MACHINE, None, ())
        with KeptTrials(tmp_path / "t.sqlite", subject, "content") as kept:
            return kept._key({}, None)

    before = key()
    changed_sources(monkeypatch, "simtmm.analysis.tuning.kept.sources", part)
    assert key() != before


def test_a_trial_is_kept_by_the_compilers_of_now(monkeypatch, tmp_path):
    def key():
        subject = Subject("vector-add", {}, MACHINE, None, ())
        with KeptTrials(tmp_path / "t.sqlite", subject, "content") as kept:
            return kept._key({}, None)

    before = key()
    monkeypatch.setattr("simtmm.analysis.tuning.kept.compilers_key", lambda: "others")
    assert key() != before


# What lowering and counting are shared by


@dataclass(frozen=True)
class Wanted:
    """A specification, and another value of each of its fields."""

    of: object
    others: dict


LOWERING = LoweringSpecification(32, 32, False, 32, 4, 32)
SPECIFICATIONS = [
    Wanted(
        LOWERING,
        {
            "warp_width": 16, "chunk_bytes": 64, "half_warp_segments": True, "banks": 16, "bank_bytes": 8,
            "lanes_together": 16, "atomics_by_word": True, "reduces": True, "shared_latency": 30,
            "instruction_holds": (("fp32", 4.0),), "pipes": ("fp64",), "shared_interval": 2, "shared_ports": 4,
            "pipe": (32, 32, 128, 0), "stalls": "overlap", "hides": (1.0,),
            "barrier": (20000, 2000), "atomic_passes": 2, "sector_bytes": 32, "latencies": (("special", 17),),
            "operands": (("fp32", 0.0),), "grid_barriers": True, "pass_bytes": 128, "cluster_barrier": (100, 10, 1),
            "fences": (("device", 550),), "remote_latency": 180, "remote_ways": True, "places": True,
        },
    ),
    Wanted(
        CountingSpecification(LOWERING, 4, 128, False),
        {"lowering": replace(LOWERING, banks=16), "groups": 8, "processors": 64, "waits_for_stores": True},
    ),
]  # fmt: skip


@pytest.mark.parametrize("wanted", SPECIFICATIONS, ids=lambda wanted: type(wanted.of).__name__)
def test_a_workload_and_its_counts_are_shared_by_all_that_decides_them(wanted):
    assert list(wanted.others) == [field.name for field in dataclasses.fields(wanted.of)]
    digests = [replace(wanted.of, **{name: value}).digest for name, value in wanted.others.items()]
    assert len({wanted.of.digest, *digests}) == 1 + len(digests)


# Traces


def digest_of(launches=(), arrays=(), sites=()):
    return TraceDigest().finish(launches, arrays, sites)


@pytest.mark.parametrize(
    ("one", "others"),
    [
        (
            TraceLaunch("f", (2, 1, 1), (32, 1, 1), 8, 16),
            {
                "kernel": "g", "grid": (1, 2, 1), "block": (16, 2, 1), "registers_per_thread": 9,
                "shared_memory_bytes": 17, "local_bytes_per_thread": 4, "spill_bytes_per_thread": 4,
                "in_graph": True, "cluster": 2,
            },
        ),
        (
            TraceArray("a", 512, 16, "int32", (4,)),
            {
                "name": "b", "base": 1024, "bytes": 32, "dtype": "float32", "shape": (2, 2), "space": "constant",
            },
        ),
    ],
    ids=lambda one: type(one).__name__,
)  # fmt: skip
def test_each_field_of_a_launch_and_of_an_array_is_in_the_digest_of_a_trace(one, others):
    assert list(others) == [field.name for field in dataclasses.fields(one)]

    def of(*given):
        return digest_of(given, ()) if isinstance(one, TraceLaunch) else digest_of((), given)

    changed = [of(replace(one, **{name: value})) for name, value in others.items()]
    assert len({of(), of(one), of(one, one), *changed}) == 3 + len(changed)


def test_each_field_of_a_site_that_says_what_is_done_is_in_the_digest_of_a_trace():
    """Where a site is and what is written there are for people; its kind stands with each event."""
    site = TraceSite(3, "atomic", "f.cu", 7, "f", work=(("fp32", 1),), needs=(1,), gives=(2,))
    others = {
        "site": [4], "work": [(("fp32", 2),), (("fp64", 1),), ()], "needs": [(3,), ()], "gives": [(3,), ()],
        "stall": [2], "unused": [True], "commits": [(1,)], "in_flight": [0, 1], "sync": [],
        "results": [(("special", 1, 8),), (("shuffle", 1, 8),), (("special", 2, 8),), (("special", 1, 9),)],
        "operand_cycles": [(("fp32", 1),), (("fp32", 2),)], "product": [(64, 0), (64, 512), (128, 0)], "cluster": [],
        "fences": [(("device", 1),), (("device", 2),), (("system", 1),)],
    }  # fmt: skip
    texts = {
        "kind": "store", "file": "g.cu", "line": 8, "source": "g", "instruction": "RED", "function": "h",
        "inlined": (("g.cu", 1),),
    }  # fmt: skip
    assert {*others, *texts} == {field.name for field in dataclasses.fields(TraceSite)}
    changed = [digest_of([], [], [replace(site, **{name: each})]) for name, values in others.items() for each in values]
    assert len({digest_of([], [], [site]), *changed}) == 1 + len(changed)
    assert digest_of([], [], [replace(site, **texts)]) == digest_of([], [], [site])
    barrier = TraceSite(3, "barrier", "f.cu", 7, "f")
    barriers = [
        barrier,
        *(replace(barrier, **{name: value}) for name, value in (("sync", True), ("cluster", 1), ("cluster", 2))),
    ]
    assert len({digest_of([], [], [each]) for each in barriers}) == 4  # of barriers alone


# Compiled code


def test_machine_code_is_kept_by_its_assembly_and_how_it_is_compiled(monkeypatch):
    given, others = {"assembly": "a", "quick": False}, {"assembly": ["b"], "quick": [True]}
    assert list(others) == names_of(kept_code._key)
    all_apart(kept_code._key, given, others)
    before = kept_code._key("a", False)
    monkeypatch.setattr(kept_code, "_circumstances", lambda: "another processor")
    assert kept_code._key("a", False) != before


def test_what_compilers_give_is_kept_by_each_part_and_where_parts_end(monkeypatch):
    parts = [[], [""], ["a"], ["b"], ["a", "b"], ["ab"], ["b", "a"], ["a", "", "b"], ["a\0b"], ["a", "b", ""]]
    keys = [compilers_kept.key_of(each) for each in parts]
    assert len(set(keys)) == len(keys)
    monkeypatch.setattr(compilers_kept, "_sources", lambda: "edited")
    assert compilers_kept.key_of(["a"]) not in keys
