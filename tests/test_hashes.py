"""Hashes of what is kept, and of what tells two things apart: each part of them alone makes another hash.

tests/test_keys.py and tests/study/test_keys.py have the keys of studies, traces and workloads; here are the rest, and
the list of all functions that hash.
"""

import ast
import copy
import dataclasses
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import load_kernel, load_machine, lower
from simtmm.cuda.checks.findings import Finding, Side
from simtmm.cuda.compilers.includes import Included
from simtmm.graph.given import identity
from simtmm.graph.graph import Graph
from simtmm.programs.building import build, runtime_library
from simtmm.programs.building.flags import parse_flags
from simtmm.recorder import compiler
from simtmm.recorder.compiled import sites
from simtmm.recorder.gpu import device
from simtmm.report.accuracy import folder
from simtmm.report.papers import reproducing
from simtmm.sampling.sample import sample_of
from simtmm.scripts.cupy.elementwise import Argument
from simtmm.study.design.points import Point
from simtmm.study.design.programs import several
from simtmm.study.design.subject import Subject
from simtmm.study.evaluation.tasks import recording_key
from simtmm.trace.streamed import StreamedWorkload
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.glance import Row
from tests.test_house import ROOT
from tests.test_keys import keys_apart
from tests.trace.build import store, trace, work

# Every function that hashes, and the file of tests that changes each of its parts. One that is added is missed here.
HERE = "tests/test_hashes.py"
HASH_FUNCTIONS = ("sha256", "blake2b", "file_digest")
ONE = ""  # what hashes a single content, of which no part can be forgotten
HASHES = {
    "analysis/run/known_changes.py changes_key": "tests/analysis/test_known_changes.py",
    "analysis/tuning/kept.py KeptTrials._key": "tests/study/test_keys.py",
    "cache/__init__.py _content": ONE,
    "cache/compiled.py _content_of": ONE,
    "cache/compiled.py sources_of": "tests/test_compiled.py",
    "cache/durations.py _name_of": "tests/test_compiling.py",
    "cuda/compilers/includes.py _Followed._look_at": "tests/cuda/compilers/test_includes.py",
    "cuda/compilers/kept.py key_of": "tests/test_keys.py",
    "cuda/execution/translation/kept_code.py _key": "tests/test_code_keys.py",
    "engine/fast/launches/equal.py _digest": "tests/engine/test_equal_launches.py",
    "engine/known_cycles.py key_of": "tests/engine/test_known_cycles.py",
    "engine/known_results.py result_key": "tests/engine/test_known_results.py",
    "graph/graph.py Graph.digest": HERE,
    "machine/spec.py Machine._digest": "tests/test_machine.py",
    "native/elements.py Elements._table": "tests/native/test_loop.py",
    "native/loop.py Loop._code_for": "tests/test_code_keys.py",
    "native/shipped.py object_name": ONE,
    "own_faults.py report": "tests/test_own_faults.py",
    "programs/building/build.py _built": HERE,
    "programs/building/runtime_library.py runtime_library": HERE,
    "provenance.py sources": "tests/test_provenance.py",
    "recorder/compiled/finish.py finished": ONE,
    "recorder/compiler.py build": HERE,
    "recorder/direct/clock.py LaunchListener.__init__": "tests/recorder/direct/test_clock.py",
    "recorder/direct/text_file.py _file": ONE,
    "recorder/gpu/compiled_build.py CompiledBuild.__init__": ONE,
    "recorder/gpu/device.py Build.__init__": HERE,
    "report/accuracy/folder.py digest": HERE,
    "report/accuracy/folder.py digest_of_glance": HERE,
    "report/papers/reproducing.py _made_by": HERE,
    "sampling/sample.py sample_of": HERE,
    "scripts/triton/compiling.py cache_folder": "tests/scripts/test_triton_kernels.py",
    "study/design/content.py _folder_digest": "tests/study/test_content.py",
    "study/design/content.py launches_digest": "tests/study/test_content.py",
    "study/design/points.py _digest": "tests/study/test_keys.py",
    "study/design/programs.py several": HERE,
    "study/design/rules.py _digest": ONE,
    "study/design/subject.py _algorithm_digest": "tests/study/test_identity.py",
    "study/evaluation/closed_forms.py ClosedForms._parts_by": "tests/study/test_keys.py",
    "study/evaluation/recorded_traces.py trace_key": "tests/study/test_keys.py",
    "study/evaluation/steps.py _key": "tests/test_keys.py",
    "study/store/kept.py kept_store": "tests/study/test_keys.py",
    "study/store/schema.py checksum": "tests/study/test_damage.py",
    "sampling/long/steady.py _begun": "tests/sampling/test_sampling.py",
    "trace/digest.py TraceDigest.__init__": "tests/study/test_keys.py",
    "trace/digest.py OldDigest.__init__": "tests/trace/test_stalls.py",
    "trace/specification.py _Specification.digest": "tests/test_keys.py",
    "trace/streamed.py StreamedWorkload.digest": HERE,
    "workload/alike.py _digest": "tests/engine/test_equal_launches.py",
    "workload/held.py Workload._digest": HERE,
}


def hashing(node, inside=()):
    """The functions of a source that make hashes."""
    for child in ast.iter_child_nodes(node):
        named = (ast.FunctionDef, ast.ClassDef)
        if isinstance(child, ast.Call) and ast.unparse(child.func).rpartition(".")[2] in HASH_FUNCTIONS:
            yield ".".join(inside)
        yield from hashing(child, (*inside, child.name) if isinstance(child, named) else inside)


def test_each_function_that_hashes_has_its_tests():
    found = {
        f"{path.relative_to(ROOT / 'simtmm').as_posix()} {function}"
        for path in (ROOT / "simtmm").rglob("*.py")
        if any(name in path.read_text(encoding="utf-8") for name in HASH_FUNCTIONS)
        for function in hashing(ast.parse(path.read_bytes()))
    }
    assert found == set(HASHES)
    assert [each for each in set(HASHES.values()) - {ONE} if not (ROOT / each).is_file()] == []


def test_a_graph_is_known_by_all_of_it_but_its_folder():
    parts = {
        "name": ("a/g.txt", "b/g.txt"),
        "vertices": (4, 5),
        "directed": (False, True),
        "start": ((0, 1), (0, 2), (1, 0)),
        "end": ((2, 3), (2, 2), (3, 2)),
        "weight": (None, (1.0, 2.0), (2.0, 1.0)),
    }
    fields = {each.name for each in dataclasses.fields(Graph) if each.init}
    assert fields == {*parts}

    def of(start, end, weight, **more):
        return Graph(
            start=np.array(start, np.int32), end=np.array(end, np.int32),
            weight=None if weight is None else np.array(weight), **more,
        )  # fmt: skip

    keys_apart(lambda **given: identity(of(**given)), parts, apart=["name"])
    first = {name: values[0] for name, values in parts.items()}
    assert identity(of(**first)) != identity(of(**{**first, "name": "a/h.txt"}))


def test_a_streamed_workload_is_known_by_its_trace_what_it_is_lowered_by_and_its_limits():
    parts = {"trace": ("t1", "t2"), "specification": ("s1", "s2"), "limits": ([1, 2], [1, 3], [2, 1])}

    def digest(trace, specification, limits):
        info = SimpleNamespace(info=SimpleNamespace(digest=trace))
        return StreamedWorkload(info, SimpleNamespace(digest=specification), np.array(limits), (), "").digest()

    keys_apart(digest, parts)


def test_sites_are_numbered_once_for_a_function_of_a_program_in_one_form():
    programs = [object(), object()]

    class Lifted(SimpleNamespace):
        pass

    parts = {"linked": (0, 1), "entry": ("f", "g"), "form": (SimpleNamespace, Lifted)}
    keys_apart(lambda linked, entry, form: sites._key(form(linked=programs[linked], entry=entry)), parts)


def test_code_for_the_elements_of_an_array_depends_on_its_type_its_axes_and_how_it_lies():
    whole = np.zeros((4, 4, 2), np.float32)
    arrays = [
        whole, whole.astype(np.float64), np.float32(1), whole[:, :, 0], whole[::2, :, :], whole.T,
    ]  # fmt: skip
    keys = [
        Argument(SimpleNamespace(name="x", raw=raw), array.dtype, array if array.ndim else array[()], False).key
        for raw in (False, True)
        for array in arrays
    ]
    plain, raw = keys[:6], keys[6:]
    assert len(set(plain)) == 5  # both of three axes whose elements do not follow each other are one
    assert plain[4] == plain[5]
    assert raw[0] != plain[0]  # indexed by the code itself
    assert len(set(raw)) == 5
    assert plain[3] != plain[4]


def test_a_finding_is_one_by_its_words_and_the_lines_of_its_sides():
    side = Side("Write", "k.cu", 3, "x = 1", (0, 0, 0), (1, 0, 0), "within", "trip")
    of_side = {
        "action": "Read", "file": "h.cu", "line": 4, "within": "", "source": "y", "block": (1, 0, 0),
        "thread": (2, 0, 0), "trip": "",
    }  # fmt: skip
    assert {*of_side} == {each.name for each in dataclasses.fields(Side)}
    finding = Finding("racecheck", "Error", "Race at 0x10", "f", 1, (side, side), "__shared__")
    of_finding = {
        "check": "memcheck", "severity": "Warning", "what": "Hazard at 0x10", "kernel": "g", "space": "__global__",
        "launch": 2, "address": 8, "array": "a", "index": 1, "count": 2, "hint": "h",
    }  # fmt: skip
    assert {*of_finding, "sides"} == {each.name for each in dataclasses.fields(Finding)}
    same = {"launch", "address", "array", "index", "count", "hint"}  # of the first time that it is found
    for name, other in of_finding.items():
        assert (dataclasses.replace(finding, **{name: other}).key == finding.key) == (name in same), name
    for name, other in of_side.items():
        changed = dataclasses.replace(side, **{name: other})
        for sides in ((changed, side), (side, changed)):
            is_same = dataclasses.replace(finding, sides=sides).key == finding.key
            assert is_same == (name in {"source", "block", "thread", "trip"}), name
    assert dataclasses.replace(finding, what="Race at 0x20").key == finding.key
    assert dataclasses.replace(finding, sides=(side,)).key != finding.key


def test_a_picture_is_of_a_table_by_all_that_it_shows():
    point = Measured("case", 2.5, {"simulated": 3.5}, 1.5, "group")
    parts = {
        "title": ("t", "u"), "quantity": ("q", "r"), "along": ("", "n"), "reference": ("measured", "fitted"),
        "unit": ("s", "ms"),
        "points": (
            (point,), (point, point), *(
                (dataclasses.replace(point, **{name: other}),)
                for name, other in {"case": "c", "group": "g", "at": 1.0, "measured": 2.0}.items()
            ), (dataclasses.replace(point, said={"simulated": 3.0}),), (dataclasses.replace(point, said={"m": 3.5}),),
        ),
    }  # fmt: skip

    def of(**given):
        return folder.digest(Accuracy(name="a", calibrated="c", origin="o", machine="m", **given))

    keys_apart(of, parts)
    rows = {
        "kind": ("k", "l"), "decided": ("d", "e"), "machines": (("m",), ("n",), ("m", "n")), "points": (1, 2),
        "mean": (0.1, 0.2), "median": (0.1, 0.2), "worst": (0.1, -0.1), "best": (None, ("m", 0.1), ("m", 0.2)),
    }  # fmt: skip
    assert {*rows} == {each.name for each in dataclasses.fields(Row)}
    keys_apart(lambda **given: folder.digest_of_glance([Row(**given)]), rows)


def test_a_reproduction_goes_on_only_with_what_made_it(tmp_path, monkeypatch):
    """The package, and each file of the kernels, machines and traces that come with it, by its name and content."""
    monkeypatch.setattr(reproducing, "shipped_folders", lambda kind: [tmp_path / kind])
    for kind in ("kernels", "machines", "traces"):
        (tmp_path / kind / "inner").mkdir(parents=True)
        (tmp_path / kind / "inner" / "file").write_text(kind)
    found = [reproducing._made_by()]
    assert found == [reproducing._made_by()]
    for kind in ("kernels", "machines", "traces"):
        (tmp_path / kind / "inner" / "file").write_text("edited")
        found.append(reproducing._made_by())
        (tmp_path / kind / "inner" / "file").rename(tmp_path / kind / "inner" / "other")
        found.append(reproducing._made_by())
    monkeypatch.setattr(reproducing, "sources", lambda *parts: "edited")
    found.append(reproducing._made_by())
    assert len(set(found)) == 8
    (tmp_path / "kernels" / "k.pyc").write_bytes(b"")  # no source
    assert reproducing._made_by() == found[-1]


def test_a_sample_of_a_trace_is_known_by_the_trace_its_launches_and_their_blocks():
    traces = {of: trace(*[[[[store(1, of)]]] * 3] * 2) for of in (0, 4)}
    blocks = [np.array(each) for each in ([0], [1], [0, 1])]
    parts = {
        "of": (0, 4),
        "chosen": ({0: blocks[0]}, {0: blocks[1]}, {0: blocks[2]}, {1: blocks[0]}, {0: blocks[0], 1: blocks[0]}),
    }
    keys_apart(lambda of, chosen: sample_of(traces[of], chosen).info.digest, parts)


def test_a_workload_is_known_by_each_of_its_arrays():
    """And by where one ends and the next begins."""
    own = lower(trace([[[store(1, 0)], [store(1, 4), work(2, 3)]]] * 2, sites=[]), load_machine("gtx480"))
    arrays = [
        each.name for each in dataclasses.fields(own)
        if isinstance(getattr(own, each.name), np.ndarray) and len(getattr(own, each.name))
    ]  # fmt: skip
    assert {"kind", "amount", "chunks", "warp_operations", "block_warps", "launch_blocks", "launch_limits"} <= {*arrays}
    digests = [changed_in(own, name).digest() for name in arrays]
    assert len({own.digest(), *digests}) == 1 + len(arrays)


def changed_in(workload, name):
    """With another number in one of its arrays, whatever else it may then be."""
    other = copy.copy(workload)
    array = getattr(workload, name).copy()
    array[-1] += 1
    object.__setattr__(other, name, array)
    return other


def test_a_recording_is_shared_by_points_of_equal_programs_parameters_and_targets(monkeypatch):
    from simtmm.study.evaluation import tasks

    monkeypatch.setattr(tasks, "architecture_of", lambda subject, point: point.machine)
    parts = {"digest": ("d", "e"), "parameters": ({"n": 1}, {"n": 2}, {"m": 1}), "machine": (None, 80, 90)}

    def key(digest, parameters, machine):
        return recording_key(Subject("kernel", "k", "k", digest), Point(0, {}, parameters, machine, ""))

    keys_apart(key, parts)
    one, other = (Point(number, {"n": number}, {"n": 1, "m": 2}, None, f"{number}") for number in range(2))
    assert recording_key(Subject("kernel", "k", "k", "d"), one) == recording_key(Subject("trace", "l", "k", "d"), other)


def test_several_programs_are_known_by_each_of_them_in_their_order():
    digests = [
        several([Subject("kernel", name, name, digest) for name, digest in given]).digest
        for given in (
            [("a", "1"), ("b", "2")], [("a", "2"), ("b", "1")], [("a", "1"), ("b", "1")], [("a", "3"), ("b", "2")],
            [("a", "1"), ("b", "2"), ("c", "3")], [("a", "12"), ("b", "")],
        )
    ]  # fmt: skip
    assert len(set(digests)) == len(digests)


@pytest.fixture
def asked(monkeypatch):
    """The keys by which modules look for what they have built, each of which they then find."""
    keys = []

    def find(folder, label, key, suffix):
        keys.append(key)
        return folder / "found"

    for module in (build, runtime_library, compiler):
        monkeypatch.setattr(module, "find", find)
    return keys


def test_a_program_is_built_again_by_all_that_decides_it(asked, monkeypatch, tmp_path):
    parts = {
        "paths": (("a.cu",), ("b.cu",), ("a.cu", "a.cu")),
        "texts": ((b"1",), (b"2",), (b"1", b"2")),
        "included": ((), (("h", "1"),), (("h", "2"),)),
        "architecture": (80, 90),
        "flags": ((), ("-O3",), ("-DX=1",)),
        "words": ([], ["-include"]),
        "runtime": ("r1.so", "r2.so"),
        "nvcc": ("nvcc 1", "nvcc 2"),
        "host": ("g++ 1", "g++ 2"),
        "headers": ("h1", "h2"),
        "folder": ("here", "there"),
    }
    for name in parts["folder"]:
        (tmp_path / name).mkdir()

    def key(paths, texts, included, architecture, flags, words, runtime, nvcc, host, headers, folder):  # noqa: PLR0913, PLR0917 - each is a part of what is made
        monkeypatch.chdir(tmp_path / folder)
        monkeypatch.setattr(build, "find_nvcc", lambda: Path("nvcc"))
        monkeypatch.setattr(build, "find_host_compiler", lambda: "g++")
        monkeypatch.setattr(build, "stamp", lambda path: nvcc if path == Path("nvcc") else host)
        monkeypatch.setattr(build, "text_of", lambda folder: headers)
        build._built(
            [Path(each) for each in paths], texts, Included(included, True, False), architecture, parse_flags(flags),
            words, tmp_path / runtime,
        )  # fmt: skip
        return asked[-1]

    keys_apart(key, parts)


def test_the_runtime_of_programs_is_built_again_by_its_sources_and_both_compilers(asked, monkeypatch):
    parts = {"sources": ("s1", "s2"), "nvcc": ("nvcc 1", "nvcc 2"), "host": ("g++ 1", "g++ 2")}

    def key(sources, nvcc, host):
        monkeypatch.setattr(runtime_library, "find_nvcc", lambda: Path("nvcc"))
        monkeypatch.setattr(runtime_library, "find_host_compiler", lambda: "g++")
        monkeypatch.setattr(runtime_library, "stamp", lambda path: nvcc if path == Path("nvcc") else host)
        monkeypatch.setattr(runtime_library, "text_of", lambda folder: sources)
        runtime_library.runtime_library.__wrapped__()
        return asked[-1]

    keys_apart(key, parts)


def test_a_kernel_is_built_again_for_the_cpu_by_all_that_decides_it(asked, monkeypatch):
    kernel = load_kernel("scan")
    parts = {
        "defines": ({}, {"N": "1"}, {"N": "2"}),
        "races": (False, True),
        "headers": ("h1", "h2"),
        "version": ("g++ 1", "g++ 2"),
        "flags": (("-O2",), ("-O3",), ("-O2", "-w")),
        "source": ("s1", "s2"),
    }

    def key(defines, races, headers, version, flags, source):
        monkeypatch.setattr(compiler, "find_compiler", lambda: ["g++"])
        monkeypatch.setattr(compiler, "_header", lambda name: headers)
        monkeypatch.setattr(compiler, "_version", lambda command: version)
        monkeypatch.setattr(compiler, "FLAGS", flags)
        given = SimpleNamespace(system=[], text=source)
        monkeypatch.setattr(compiler, "read_source", lambda kernel: given)
        compiler.build(kernel, defines, races)
        return asked[-1]

    keys_apart(key, parts)
    for number, name in enumerate(compiler.HEADERS):  # each of them
        monkeypatch.setattr(compiler, "_header", lambda other, name=name: str(other == name))
        compiler.build(kernel, {})
        assert asked[-1] not in asked[:-1], number


def test_what_a_gpu_runs_is_known_by_its_source_how_it_is_built_and_the_recorder_s_headers(monkeypatch, tmp_path):
    for name in device.HEADERS:
        (tmp_path / name).write_text("h1")
    monkeypatch.setattr(device, "HERE", tmp_path)
    parts = {
        "text": ("__global__ void f() {}", "__global__ void g() {}"),
        "system": ((), ("cuda_fp16.h",)),
        "defines": ({}, {"N": "1"}, {"N": "2"}),
        "recording": (False, True),
        "changed": ("", *device.HEADERS),
    }

    def digest(text, system, defines, recording, changed):
        for name in device.HEADERS:
            (tmp_path / name).write_text("h2" if name == changed else "h1")
        monkeypatch.setattr(device, "read_source", lambda kernel: SimpleNamespace(text=text, system=system, sites=[]))
        return device.Build(None, None, defines, recording).digest

    keys_apart(digest, parts)
