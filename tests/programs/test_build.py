"""Building programs: what is announced while that lasts."""

from contextlib import nullcontext

import pytest

from simtmm.errors import CompilerError
from simtmm.programs import build


def test_a_program_that_does_not_compile_is_announced_once_for_all_headers_that_are_tried(tmp_path, monkeypatch):
    announced = []
    monkeypatch.setattr(build, "announced", lambda what: nullcontext(announced.append(what)))
    source = tmp_path / "wrong.cu"
    source.write_text("int main() { return nothing; }\n")
    with pytest.raises(CompilerError, match=r"wrong\.cu:1: does not compile"):
        build.build_program([source], 80)
    assert announced == ["wrong.cu for sm_80"]
