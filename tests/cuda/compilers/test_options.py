"""Options of the compiler: which are taken, how they are written, and that none can run, write or link something."""

from pathlib import Path

import pytest

from simtmm.cuda.compilers.options import Options, parse_options
from simtmm.errors import CompilerError

HERE = Path("/there")


def parsed(*words):
    return parse_options(words, HERE)


@pytest.mark.parametrize(
    "words",
    [("-Isub",), ("-I", "sub"), ("-I sub",), ("--include-path=sub",), ("--include-path", "sub"), ("-I=sub",)],
    ids=" ".join,
)
def test_a_folder_of_headers_is_written_in_many_ways_and_taken_from_where_the_user_stands(words):
    assert parsed(*words) == Options(folders=("/there/sub",))


@pytest.mark.parametrize("words", [("-DN=4",), ("-D", "N=4"), ("-D N=4",), ("--define-macro=N=4",)], ids=" ".join)
def test_a_macro_is_written_in_many_ways(words):
    assert parsed(*words) == Options(macros=("-DN=4",))


def test_macros_keep_their_order():
    assert parsed("-DA", "-UA", "-DA=2", "-DF(x)=x*2", '-DS="a b"').macros == (
        *("-DA", "-UA", "-DA=2"),
        *("-DF(x)=x*2", '-DS="a b"'),
    )


def test_a_macro_that_is_called_like_an_option_is_a_macro():
    assert parsed("-Dstd", "-DI=2", "-Ic", "-Uw").macros == ("-Dstd", "-DI=2", "-Uw")


@pytest.mark.parametrize("word", ["-std=c++11", "--std=c++11"])
def test_a_standard_is_taken_and_is_17_if_left_out(word):
    assert (parsed(word).standard, parsed().standard) == ("c++11", "c++17")


@pytest.mark.parametrize(
    ("word", "switch"),
    [
        *(("-use_fast_math", "--use_fast_math"), ("--use_fast_math", "--use_fast_math"), ("-ftz=true", "--ftz=true")),
        *(("-prec-div=false", "--prec-div=false"), ("--fmad=false", "--fmad=false"), ("-w", "--disable-warnings")),
        *(("-diag-suppress=177", "--diag-suppress=177"), ("--restrict", "--restrict")),
    ],
)
def test_a_switch_is_for_both_compilers(word, switch):
    assert parsed(word) == Options(switches=(switch,))


def test_some_switches_are_for_one_compiler():
    assert parsed("--expt-relaxed-constexpr", "--extended-lambda").nvcc == (
        "--expt-relaxed-constexpr",
        "--extended-lambda",
    )
    assert parsed("-default-device").nvrtc == ("--device-as-default-execution-space",)


def test_a_bound_on_registers_is_for_the_assembler_too():
    assert parsed("-maxrregcount=32") == Options(switches=("--maxrregcount=32",), assembler=("--maxrregcount=32",))


def test_what_ptxas_is_reported():
    assert parsed("-Xptxas", "-v,-O1", "--ptxas-options=-dlcm=cg").assembler == ("-O1", "-dlcm=cg")


@pytest.mark.parametrize(
    "word", ["-O3", "-O", "-g", "-lineinfo", "-m64", "-Xcompiler=-Wall", "-Xcompiler=-O3", "-Xcompiler=-fopenmp"]
)
def test_what_says_nothing_about_a_kernel_is_passed_over(word):
    assert parsed(word, *["2"] * (word == "-O")) == Options()


@pytest.mark.parametrize(
    ("words", "relocatable"),
    [(("-rdc=true",), True), (("-rdc", "true"), True), (("-dc",), True), (("-rdc=false",), False), ((), None)],
)
def test_whether_functions_of_other_files_may_be_called(words, relocatable):
    assert parsed(*words).relocatable is relocatable


@pytest.mark.parametrize(("word", "architecture"), [("-arch=sm_90a", "90a"), ("--gpu-architecture=compute_75", "75")])
def test_an_architecture(word, architecture):
    assert parsed(word).architecture == architecture


@pytest.mark.parametrize(
    "word",
    [
        *("-ccbin=sh", "--compiler-bindir=/tmp", "--run", "-run", "-o", "--output-file=x", "-optf=x"),
        *("@x", "--dryrun", "--keep", "--device-time-trace=x", "-time=x", "-Xlinker=-x", "-lx", "-Lx", "-lib"),
        *("-Xcompiler=-wrapper,sh", "-Xcompiler=-fplugin=x", "-Xcompiler=-Wall -o x", "--create-pch=x"),
        *("-Xptxas=-o,x", "-Xptxas=-v,x", "-maxrregcount=$(x)", "-std=c++99", "-arch=native", "-arch=sm_80;x"),
        *("-diag-suppress=$(x)", "-ftz=maybe", "-use_fast_math=1", "k.cu", "", "-", "--", "-D1", "-D$(x)", "-U$(x)"),
    ],
)  # fmt: skip
def test_every_other_option_is_refused_with_those_that_are_taken(word):
    with pytest.raises(CompilerError) as caught:
        parsed(word)
    assert str(caught.value).startswith(f"option {word!r}")
    assert "not supported; allowed: -I DIR" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("word", "why"), [("-G", "debug code"), ("-gencode=arch=compute_80", "-arch=sm_NN")])
def test_some_are_refused_with_a_reason(word, why):
    with pytest.raises(CompilerError, match=f"not supported: .*{why}"):
        parsed(word)


@pytest.mark.parametrize("word", ["-I", "-D", "-include", "-arch", "-Xptxas"])
def test_an_option_without_its_value_is_refused(word):
    with pytest.raises(CompilerError, match="must be followed by a value"):
        parsed(word)


@pytest.mark.parametrize("word", ["-DA=1\n#include <x>", "-DA\0", 3, None])
def test_an_option_of_more_than_a_line_or_of_no_text_is_refused(word):
    with pytest.raises(CompilerError, match="must be a text of one line"):
        parsed(word)


def test_a_text_in_the_place_of_words_is_refused():
    with pytest.raises(CompilerError, match="must be several words"):
        parse_options("-DA")
