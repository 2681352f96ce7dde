"""Functions of a module by lines of its text, their bodies unread."""

from simtmm.cuda.ptx import parse_module

TEXT = """.version 8.0
.target sm_80
.address_size 64
.func helper()
{
  ret;
}
.extern .func elsewhere();
.visible .entry k()
{
  exit;
}
.visible .entry wrong()
{
  no_such_instruction %r1;
}
"""
LINES = {name: range(TEXT[: TEXT.index(f" {name}(")].count("\n") + 2, 99) for name in ("helper", "k", "wrong")}


def at(*lines):
    return list(parse_module(TEXT).functions_at(lines))


def test_the_functions_that_have_one_of_the_lines_are_named():
    first = {name: lines[0] for name, lines in LINES.items()}
    assert at(first["helper"] + 1) == ["helper"]
    assert at(first["k"] + 1, first["helper"] + 1) == ["helper", "k"]
    assert at(first["k"], first["k"] + 2) == ["k"]
    assert at(first["k"] - 1, first["k"] + 3, 1, 1000) == []


def test_a_function_without_a_body_has_no_lines():
    line = TEXT[: TEXT.index("elsewhere")].count("\n") + 1
    assert at(line) == []


def test_others_stay_unread():
    module = parse_module("\n".join([TEXT, ".func none()", "{", "  " + "(" * 5000, "}"]))
    assert list(module.functions_at([6])) == ["helper"]
