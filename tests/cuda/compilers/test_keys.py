"""What compilers give is kept by all that decides it: each part of a key, of the tools too, makes another."""

from pathlib import Path

import pytest

from simtmm.cuda.compilers import compile as compiling
from simtmm.cuda.compilers import ptxas
from simtmm.cuda.compilers.binaries import disassembly
from simtmm.cuda.compilers.kept import key_of
from simtmm.cuda.compilers.options import parse_options
from tests.test_keys import keys_apart


class FoundError(Exception):
    """Says a key in the place of what is kept by it."""


@pytest.fixture
def tools(monkeypatch):
    """What each tool is, by its name: a text that stands for its file. Nothing is run."""
    versions = dict.fromkeys(("ptxas", "nvlink", "nvdisasm", "nvcc", "g++", "nvrtc"), "1")

    def say(name, parts, make):
        raise FoundError(f"{name}: {key_of(parts)}")

    stamp = lambda path: f"{path} {versions[Path(path).name]}"  # noqa: E731
    for module in (compiling, disassembly, ptxas):
        monkeypatch.setattr(module, "kept", say)
        monkeypatch.setattr(module, "stamp", stamp)
    for module in (disassembly, ptxas):
        monkeypatch.setattr(module, "find_tool", Path)
    monkeypatch.setattr(compiling, "find_nvcc", lambda: Path("nvcc"))
    monkeypatch.setattr(compiling, "find_nvrtc", lambda: Path("nvrtc"))
    monkeypatch.setattr(compiling, "find_host_compiler", lambda: "g++")
    monkeypatch.setattr(compiling, "_version", lambda program, stamped: f"{stamped} says {versions['g++ says']}")
    versions["g++ says"] = "1"
    return versions


def key_from(call, tools):
    """A function that takes what call takes, and a version of each tool, and gives the key."""

    def made(**given):
        tools.update({name: given.pop(f"of {name}") for name in list(tools) if f"of {name}" in given})
        with pytest.raises(FoundError) as caught:
            call(**given)
        return str(caught.value)

    return made


def of_tools(*names):
    return {f"of {name}": ("1", "2") for name in names}


def test_a_disassembly_is_kept_by_its_ptx_its_target_its_options_and_both_tools(tools):
    parts = {
        "ptx": ("ret;", "exit;"), "target": ("sm_80", "sm_90"), "options": ((), ("-O0",), ("-O0", "-g")),
        **of_tools("ptxas", "nvdisasm"),
    }  # fmt: skip
    keys_apart(key_from(disassembly.disassembled, tools), parts)


def test_resources_are_kept_by_their_modules_and_the_tools_that_find_them(tools):
    parts = {"modules": (["a"], ["b"], ["a", "b"], ["ab"]), "architecture": ("sm_80", "sm_90"),
             "options": ((), ("-O0",)), "name": ("k",), **of_tools("ptxas")}  # fmt: skip
    linked = {**parts, "link": (True,), **of_tools("ptxas", "nvlink")}
    keys_apart(key_from(ptxas._kept_resources, tools), {**parts, "link": (False, True)})
    keys_apart(key_from(ptxas._kept_resources, tools), linked)
    keys_apart(key_from(ptxas._kept_resources, tools), {**linked, "link": (False,)}, apart=("of nvlink",))


def test_a_source_is_kept_by_itself_its_options_and_nvrtc(tools):
    parts = {
        "source": ("int a;", "int b;"), "name": ("k.cu", "l.cu"), "architecture": (80, 90),
        "options": ((), ("-DX",), ("-std=c++20",), ("-rdc=true",)), "name_expressions": ((), ("f",), ("f", "g")),
        "headers": ({}, {"a.h": "1"}, {"a.h": "2"}, {"b.h": "1"}, {"a.h": "1", "b.h": ""}), **of_tools("nvrtc"),
    }  # fmt: skip
    keys_apart(key_from(compiling.compile_source, tools), parts)


def test_a_file_is_kept_by_its_content_its_options_both_compilers_and_the_folders_of_headers(tools, monkeypatch):
    def made(folders, options, **given):
        monkeypatch.setenv("CPATH", folders)
        return compiling._compiled_file(**given, options=parse_options(options))

    parts = {
        "given": (Path("/k.cu"), Path("/l/k.cu")), "content": (b"int a;", b"int b;", b"\xff"), "target": ("80", "90a"),
        "options": ((), ("-DX",), ("-rdc=true",)), "expressions": ((), ("f",), ("f", "g")),
        "folders": ("", "/one", "/one:/two"), **of_tools("nvcc", "g++", "g++ says"),
    }  # fmt: skip
    keys_apart(key_from(made, tools), parts)
