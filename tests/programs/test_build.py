"""Building programs: what is announced while that lasts."""

from contextlib import nullcontext

import pytest

from simtmm.errors import CompilerError
from simtmm.programs.building import build
from simtmm.programs.building.flags import parse_flags


def test_a_program_that_does_not_compile_is_announced_once_for_all_headers_that_are_tried(tmp_path, monkeypatch):
    announced = []
    monkeypatch.setattr(build, "announced", lambda what, usual: nullcontext(announced.append(what)))
    source = tmp_path / "wrong.cu"
    source.write_text("int main() { return nothing; }\n")
    with pytest.raises(CompilerError, match=r"wrong\.cu:1: does not compile"):
        build.build_program([source], 80)
    assert announced == ["wrong.cu for sm_80"]


@pytest.mark.parametrize("words", [["-D", "X=1\n-O3"], ["-DX=1\n-O3"], ["-I", "a\0b"]])
def test_a_value_that_stands_apart_is_one_line_too(words):
    with pytest.raises(CompilerError, match="must be a text of one line"):
        parse_flags(words)


@pytest.mark.parametrize(
    ("words", "compiling", "linking"),
    [
        (["-Xcompiler=-O2,-fopenmp"], ("-Xcompiler=-O2", "-Xcompiler=-fopenmp"), ("-fopenmp",)),
        (["-Xcompiler", "-Wall"], ("-Xcompiler=-Wall",), ()),
        (["--compiler-options", "-pthread,-g"], ("-Xcompiler=-pthread", "-Xcompiler=-g"), ("-pthread",)),
    ],
)
def test_options_of_the_host_s_compiler_are_passed_one_by_one(words, compiling, linking):
    flags = parse_flags(words)
    assert (flags.compiling, flags.linking) == (compiling, linking)


@pytest.mark.parametrize("word", ["-D", "-Xcompiler", "-rdc", "-L"])
def test_an_option_without_its_value_is_refused_by_name(word):
    with pytest.raises(CompilerError, match=f"option '{word}': must be followed by a value"):
        parse_flags(["-O2", word])
