"""Sites: which words of a source are numbered, and what the table says of them."""

import pytest

from simtmm.recorder.sites import MACROS, number_sites
from tests.kernels.every_macro import EVERY_MACRO


def numbered(source):
    return number_sites(source)[0]


def table(source):
    return [(site.site, site.kind, site.line, site.source) for site in number_sites(source)[1]]


def test_sites_are_numbered_in_textual_order():
    assert numbered("ST(a, 0, 1); OP(2); LD(a, 3);") == "SIMTMM_ST(0, a, 0, 1); SIMTMM_OP(1, 2); SIMTMM_LD(2, a, 3);"


def test_an_outer_use_comes_before_those_within_it():
    assert numbered("ST(a, LD(b, i), LDS(s, LD(c, j)));") == (
        "SIMTMM_ST(0, a, SIMTMM_LD(1, b, i), SIMTMM_LDS(2, s, SIMTMM_LD(3, c, j)));"
    )


@pytest.mark.parametrize("use", ["SYNC()", "SYNC( )", "SYNC ()", "SYNC\n(\n)"])
def test_a_use_without_arguments_takes_the_number_alone(use):
    assert "".join(numbered(use).split()) == "SIMTMM_SYNC(0)"


def test_a_comment_is_no_argument():
    assert "".join(numbered("SYNC(/* all */);").split()) in ("SIMTMM_SYNC(0);", "SIMTMM_SYNC(0/*all*/);")


def test_a_join_may_have_an_argument_or_none():
    assert numbered("JOIN(); JOIN(2);") == "SIMTMM_JOIN(0); SIMTMM_JOIN(1, 2);"


@pytest.mark.parametrize(
    "source",
    [
        "// LD(a, i)",
        "/* LD(a, i)\n   SYNC() */",
        'printf("LD(a, i)");',
        r'printf("\"LD(a, i)");',
        "char c = '\"'; // \" LD(a, i)",
    ],
)
def test_comments_and_strings_hold_no_sites(source):
    assert number_sites(source) == (source, [])


def test_what_follows_a_comment_or_a_string_is_a_site():
    source = """/* don't */ LD(a, 0); // it's\nputs("\\\\"); char c = '"'; LD(a, 1); char d = '\\''; LD(a, 2);"""
    assert [site.source.count("LD") for site in number_sites(source)[1]] == [1, 2, 2]


def test_digit_separators_are_no_quotes():
    assert numbered("1'000 * LD(a, 0) + 2'000") == "1'000 * SIMTMM_LD(0, a, 0) + 2'000"


@pytest.mark.parametrize("word", ["OLD(a, i)", "_LD(a, i)", "LDX(a, i)", "LD2(a, i)", "box.LD(a, i)", "LD", "LD[a]"])
def test_words_that_merely_contain_a_macro_are_left_alone(word):
    assert number_sites(word) == (word, [])


def test_the_longest_macro_is_meant():
    assert table("LD_ASYNC(a, 0); LDS(s, 0); LD(a, 0);") == [
        (0, "async", 1, "LD_ASYNC(a, 0); LDS(s, 0); LD(a, 0);"),
        (1, "shared_load", 1, "LD_ASYNC(a, 0); LDS(s, 0); LD(a, 0);"),
        (2, "load", 1, "LD_ASYNC(a, 0); LDS(s, 0); LD(a, 0);"),
    ]


def test_a_use_over_several_lines_belongs_to_its_first_and_moves_no_line():
    source = "int x =\n    LD\n    (a,\n     i);\nOP(1);\n"
    assert table(source) == [(0, "load", 2, "LD"), (1, "work", 5, "OP(1);")]
    assert [line.strip() for line in numbered(source).split("\n")] == [
        "int x =", "SIMTMM_LD", "(0, a,", "i);", "SIMTMM_OP(1, 1);", "",
    ]  # fmt: skip


def test_a_macro_of_the_kernels_own_is_numbered_where_it_is_defined():
    assert table("#define NEXT(i) LD(a, (i) + 1)\nNEXT(0) + NEXT(1);") == [
        (0, "load", 1, "#define NEXT(i) LD(a, (i) + 1)")
    ]


def test_every_macro_is_known_by_its_kind():
    kinds = {name: number_sites(f"{name}(a, 0)")[1][0].kind for name in MACROS}
    assert kinds == {
        "LD": "load", "LD_ASYNC": "async", "ST": "store", "JOIN": "join", "OP": "work", "SYNC": "barrier",
        "SHARED": "shared_array", "LDS": "shared_load", "STS": "shared_store",
        **dict.fromkeys((name for name in MACROS if name.startswith("ATOMIC_")), "atomic"),
    }  # fmt: skip


def test_the_source_that_shows_every_macro_shows_every_macro():
    text = numbered(EVERY_MACRO)
    assert [name for name in MACROS if f"SIMTMM_{name}(" not in text] == []
