"""Keys of what is built, of launches that are alike, of closed forms and of commands, as tests.test_keys has others."""

import copy
import dataclasses
import inspect
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm import Workload, load_machine
from simtmm.cache.durations import _name_of
from simtmm.cuda.compilers.includes import Included
from simtmm.engine.fast.launches.equal import _digest as digest_of_l2
from simtmm.programs.building import build, runtime_library
from simtmm.programs.building.flags import Flags
from simtmm.sampling.long import steady
from simtmm.study.design.axes import Axis, span
from simtmm.study.evaluation.closed_forms import PART, ClosedForms
from simtmm.workload.alike import kinds_of
from tests.test_keys import covers, keys_apart

MACHINE = load_machine("gtx480")


@pytest.fixture
def built(monkeypatch):
    """The key and the label of a program's build, of which nothing is built."""
    stamps = {"nvcc": "n1", "c++": "h1"}
    monkeypatch.setattr(build, "find_nvcc", lambda: Path("nvcc"))
    monkeypatch.setattr(build, "find_host_compiler", lambda: "c++")
    monkeypatch.setattr(build, "stamp", lambda path: stamps[path.name])
    monkeypatch.setattr(build, "own_folder", lambda name: name)
    monkeypatch.setattr(build, "find", lambda folder, label, key, suffix: key)

    def key(nvcc, host, wrapped, headers, **arguments):
        stamps.update(nvcc=nvcc, **{"c++": host})
        monkeypatch.setattr(build, "WRAPPED", wrapped)
        monkeypatch.setattr(build, "text_of", lambda folder: headers)
        return build._built(**arguments)

    return key


def flags_of():
    """Flags that differ in one field each."""
    first = Flags()
    others = {
        "compiling": ("-O1",),
        "macros": ("N=4",),
        "linking": ("-lm",),
        "relocatable": True,
        "architecture": "90a",
    }
    assert others.keys() == {field.name for field in dataclasses.fields(Flags)}
    return first, *(dataclasses.replace(first, **{name: value}) for name, value in others.items())


def test_a_program_is_found_by_all_that_decides_its_build(built):
    none, one = (Included(digests, True, False) for digests in ((), (("a.h", "d1"),)))
    parts = {
        "paths": ([Path("a.cu")], [Path("b.cu")], [Path("a.cu"), Path("b.cu")]),
        "texts": ([b"1"], [b"2"], [b"1", b"2"]),
        "included": (none, one, Included((("a.h", "d2"),), True, False)),
        "architecture": (80, 90),
        "flags": flags_of(),
        "words": ([], ["-DA"]),
        "runtime": (Path("r1.so"), Path("r2.so")),
    }
    assert covers(build._built, parts)
    others = {"nvcc": ("n1", "n2"), "host": ("h1", "h2"), "wrapped": (("a",), ("a", "b")), "headers": ("1", "2")}
    keys_apart(built, parts | others)


def test_a_program_is_another_in_another_folder(built, monkeypatch, tmp_path):
    given = {
        "paths": [Path("a.cu")], "texts": [b"1"], "included": Included((), True, False), "architecture": 80,
        "flags": Flags(), "words": [], "runtime": Path("r"), "nvcc": "n", "host": "h", "wrapped": (), "headers": "",
    }  # fmt: skip
    here = built(**given)
    monkeypatch.chdir(tmp_path)
    assert built(**given) != here


def test_a_program_whose_headers_are_not_all_known_is_built_again(built, monkeypatch):
    monkeypatch.setattr(build, "keep", lambda folder, label, key, suffix, make: "built")
    given = {"paths": [Path("a.cu")], "texts": [b"1"], "architecture": 80, "flags": Flags(), "words": []}
    others = {"runtime": Path("r"), "nvcc": "n", "host": "h", "wrapped": (), "headers": ""}
    found = [built(included=Included((), complete, False), **given, **others) for complete in (True, False)]
    assert found[0] != "built" == found[1]


def test_the_runtime_is_found_by_its_sources_and_the_compilers(monkeypatch, tmp_path):
    monkeypatch.setattr(runtime_library, "find_nvcc", lambda: Path("nvcc"))
    monkeypatch.setattr(runtime_library, "find_host_compiler", lambda: "c++")
    monkeypatch.setattr(runtime_library, "own_folder", lambda name: name)
    monkeypatch.setattr(runtime_library, "find", lambda folder, label, key, suffix: key)

    def key(nvcc, host, wrapped, sources):
        (tmp_path / "one.cpp").write_text(sources)
        monkeypatch.setattr(runtime_library, "SOURCES", tmp_path)
        monkeypatch.setattr(runtime_library, "WRAPPED", wrapped)
        monkeypatch.setattr(runtime_library, "stamp", lambda path: {"nvcc": nvcc, "c++": host}[path.name])
        return runtime_library.runtime_library.__wrapped__()

    parts = {"nvcc": ("n1", "n2"), "host": ("h1", "h2"), "wrapped": (("a",), ("b",)), "sources": ("int x;", "int y;")}
    keys_apart(key, parts)


def test_a_folder_s_text_has_each_file_s_name_and_ends(tmp_path):
    files = ({"a": "b", "c": "d"}, {"a": "bc", "d": ""}, {"a": "d", "c": "b"}, {"a": "b"}, {"b": "b"})
    texts = set()
    for number, each in enumerate(files):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, text in each.items():
            (folder / name).write_text(text)
        texts.add(runtime_library.text_of(folder))
    assert len(texts) == len(files)


LAUNCH = {
    "blocks": [
        {"warps": [[["compute", 4], ["load", [0, 1], 2, [[1, 2], [3]]]], [["barrier"]]]},
        {"warps": [[["barrier"]]]},
    ]
}


def changed(*path, value):
    """A launch with another value somewhere."""
    launch = copy.deepcopy(LAUNCH)
    at = launch
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return launch


OTHERS = {
    "an amount": changed("blocks", 0, "warps", 0, 0, 1, value=5),
    "a kind": changed("blocks", 0, "warps", 0, 1, 0, value="store"),
    "a chunk": changed("blocks", 0, "warps", 0, 1, 1, 1, value=2),
    "passes": changed("blocks", 0, "warps", 0, 1, 2, value=3),
    "bytes of a sector": changed("blocks", 0, "warps", 0, 1, 3, 1, value=[4]),
    "an operation less": changed("blocks", 0, "warps", 1, value=[]),
    "warps of other blocks": {
        "blocks": [{"warps": LAUNCH["blocks"][0]["warps"][:1]}, {"warps": [[["barrier"]], [["barrier"]]]}]
    },
    "operations of other warps": changed(
        "blocks", 0, "warps", value=[[["compute", 4]], [["load", [0, 1], 2, [[1, 2], [3]]], ["barrier"]]]
    ),
    "another order": changed("blocks", 0, "warps", value=LAUNCH["blocks"][0]["warps"][::-1]),
}


@pytest.mark.parametrize("what", OTHERS)
def test_launches_that_differ_in_anything_are_told_apart(what):
    launches = [LAUNCH, OTHERS[what], LAUNCH, OTHERS[what]]
    assert kinds_of(Workload.from_dict({"launches": launches})).tolist() == [0, 1, 0, 1]


def test_launches_at_other_places_are_told_apart():
    workload = Workload.from_dict({"launches": [LAUNCH, LAUNCH]})
    place = np.zeros(len(workload.kind), np.int64)
    assert kinds_of(dataclasses.replace(workload, place=place)).tolist() == [0, 0]
    for at in range(len(place) // 2):
        other = place.copy()
        other[at] = 1
        assert kinds_of(dataclasses.replace(workload, place=other)).tolist() == [0, 1]


def design(size=10, parameters=None, changes=None, machines=None, groups=None, drawn=None, compute=("tmm",), where=()):
    """What a study's closed forms look at."""
    study = SimpleNamespace(parameters=parameters or {}, constraints=list(where))
    return SimpleNamespace(
        study=study, changes=changes or {}, machines=machines or {"a": MACHINE}, size=size,
        groups=groups or [[Axis("n", (1, 2))]], drawn=drawn, compute=list(compute),
    )  # fmt: skip


def test_a_part_of_closed_forms_is_found_by_all_that_decides_it():
    def key(program, sources, **of):
        return next(iter(ClosedForms._parts_by(SimpleNamespace(design=design(**of)), program, sources)))

    other = MACHINE.replace({"memory.latency": 7})
    two = [[Axis("n", (1, 2))], [Axis("m", (1, 2))]]
    linked = [[Axis("n", (1, 2)), Axis("m", (1, 2))]]
    parts = {
        "program": ("d1", "d2"),
        "sources": ("s1", "s2"),
        "size": (10, 11),
        "parameters": ({}, {"n": 1}, {"n": 2}),
        "changes": ({}, {"memory.latency": 4}),
        "machines": ({"a": MACHINE}, {"b": MACHINE}, {"a": other}, {"a": MACHINE, "b": MACHINE}),
        "groups": ([[Axis("n", (1, 2))]], [[Axis("n", (1, 3))]], [[Axis("m", (1, 2))]], two, linked),
        "drawn": (None, [span("n", "1:9")]),
        "compute": (("tmm",), ("pram",), ("tmm", "pram")),
        "where": ((), ("n < 4",)),
    }
    assert covers(design, {name for name in parts if name not in ("program", "sources")})
    keys_apart(key, parts)


def test_parts_of_closed_forms_are_all_points_once():
    found = ClosedForms._parts_by(SimpleNamespace(design=design(size=2 * PART + 5)), "d", "s")
    assert list(found.values()) == [(0, PART), (PART, 2 * PART), (2 * PART, 2 * PART + 5)]
    assert len(found) == len({key.split()[0] for key in found}) + 2  # one content, and the bounds of each


def test_a_command_is_told_apart_by_where_its_words_end():
    words = (("ab", "c"), ("a", "bc"), ("abc",), ("ab", "c", ""), ("c", "ab"))
    assert len({_name_of(each) for each in words}) == len(words)
    assert _name_of(iter(("ab", "c"))) == _name_of(["ab", "c"])


def test_what_a_launch_finds_is_its_lines_and_their_sectors():
    lines, sectors = np.array([1, 2]), np.array([3, 4])
    found = {
        digest_of_l2(*each) for each in ((lines, sectors), (sectors, lines), (lines, lines), (lines[:1], sectors[:1]))
    }
    assert len(found) == 4


def test_blocks_under_way_are_told_apart_by_how_far_each_is(monkeypatch):
    monkeypatch.setattr(steady, "_alone", lambda trace, launch, blocks: (trace.info.digest, launch, blocks))
    monkeypatch.setattr(steady, "Trace", lambda info, runs: SimpleNamespace(info=info))

    @dataclasses.dataclass
    class Info:
        digest: str

    def key(digest, structure, values, value_ends, first, second):
        runs = SimpleNamespace(
            structure=np.array(structure), values=np.array(values), value_ends=np.array(value_ends),
            structures=(np.array([first]), np.array([second])),
        )  # fmt: skip
        return steady._begun(SimpleNamespace(info=Info(digest)), runs, 3, np.array([4]))[0]

    parts = {
        "digest": ("0" * 20, "1" * 20), "structure": ([1, 2], [1, 3]), "values": ([5], [6]), "value_ends": ([7], [8]),
        "first": ([9], [10]), "second": ([11], [12]),
    }  # fmt: skip
    keys_apart(key, parts)
    assert len(key(**{name: values[0] for name, values in parts.items()})) == 20
    assert set(inspect.signature(key).parameters) == set(parts)
