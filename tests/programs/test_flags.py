"""Words for nvcc: which go on to the compiler and the linker, and what each says."""

import pytest

from simtmm.errors import CompilerError
from simtmm.programs.building.flags import Flags, parse_flags, split_flags

TAKEN = [
    ([], Flags()),
    # Macros
    (["-DN"], Flags(macros=("N",))),
    (["-DN=7"], Flags(macros=("N=7",))),
    (["-D", "N=7"], Flags(macros=("N=7",))),
    (["--define-macro=N=7"], Flags(macros=("N=7",))),
    (["--define-macro=N"], Flags(macros=("N",))),
    (["-DA=1", "-D", "B", "-DC"], Flags(macros=("A=1", "B", "C"))),
    # Device code of several files
    (["-rdc=true"], Flags(relocatable=True)),
    (["--relocatable-device-code=true"], Flags(relocatable=True)),
    (["-rdc", "true"], Flags(relocatable=True)),
    (["--relocatable-device-code", "true"], Flags(relocatable=True)),
    (["-rdc", "false"], Flags()),
    (["-dc"], Flags(relocatable=True)),
    (["--device-c"], Flags(relocatable=True)),
    (["-dc", "-rdc=false"], Flags()),
    (["-dc", "--relocatable-device-code=false"], Flags()),
    # The host's compiler
    (["-Xcompiler", "-O2"], Flags(compiling=("-Xcompiler=-O2",))),
    (["-Xcompiler=-O2,-Wall"], Flags(compiling=("-Xcompiler=-O2", "-Xcompiler=-Wall"))),
    (["--compiler-options", "-fopenmp -Wall"],
     Flags(compiling=("-Xcompiler=-fopenmp", "-Xcompiler=-Wall"), linking=("-fopenmp",))),
    (["--compiler-options=-pthread"], Flags(compiling=("-Xcompiler=-pthread",), linking=("-pthread",))),
    # Architectures: one that is named counts, of several none does
    (["-arch=sm_90a"], Flags(architecture="90a")),
    (["-arch", "sm_80"], Flags(architecture="80")),
    (["--gpu-architecture=compute_75"], Flags(architecture="75")),
    (["-gencode", "arch=compute_86,code=sm_86"], Flags(architecture="86")),
    (["--generate-code=arch=compute_120f,code=[sm_120f,compute_120f]"], Flags(architecture="120f")),
    (["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90"], Flags()),
    (["-arch=native"], Flags()),
    # Libraries
    (["-lm"], Flags(linking=("-lm",))),
    (["-l", "m"], Flags(linking=("-lm",))),
    (["-L/lib", "-L", "/other"], Flags(linking=("-L/lib", "-L/other"))),
    (["-lcudart", "-lcublas_static", "-lnppc", "-lnvrtc", "-lrt", "-ldl", "-lm"], Flags(linking=("-lm",))),
    # What says nothing here, with its value or without
    (["-g", "-G", "--keep", "-c", "-lineinfo", "-t4", "-Wno-x", "-code=sm_80"], Flags()),
    (["-o", "a.out", "-DN"], Flags(macros=("N",))),
    (["-Xptxas", "-v", "-Xlinker", "-s", "-lm"], Flags(linking=("-lm",))),
    (["-Xptxas=-v", "-ccbin=g++"], Flags()),
    # What goes on as it is
    (["-O3", "--use_fast_math", "-std=c++17", "-w"], Flags(compiling=("-O3", "--use_fast_math", "-std=c++17", "-w"))),
    (["-I/a", "-I", "/b c", "-isystem=/d", "-include", "e.h", "-UF"],
     Flags(compiling=("-I/a", "-I", "/b c", "-isystem=/d", "-include", "e.h", "-UF"))),
    (["-maxrregcount=32", "--std", "c++14"], Flags(compiling=("-maxrregcount=32", "--std", "c++14"))),
]  # fmt: skip


@pytest.mark.parametrize(("words", "flags"), TAKEN, ids=lambda each: " ".join(each) if isinstance(each, list) else "")
def test_each_word_says_what_it_says_to_nvcc(words, flags):
    assert parse_flags(words) == flags
    before = parse_flags(["-DBEFORE", *words, "-O1"])  # and leaves those around it alone
    assert (before.macros, before.compiling) == (("BEFORE", *flags.macros), (*flags.compiling, "-O1"))


@pytest.mark.parametrize(("architecture", "number"), [("80", 80), ("90a", 90), ("120f", 120)])
def test_an_architecture_is_a_number_whatever_its_letter(architecture, number):
    assert parse_flags([f"-arch=sm_{architecture}"]).number == number
    assert Flags().number is None


@pytest.mark.parametrize("word", ["-D", "-I", "-Xcompiler", "-arch", "-o", "-l", "-rdc", "--std"])
def test_a_word_whose_value_lacks_is_refused(word):
    with pytest.raises(CompilerError) as caught:
        parse_flags(["-O3", word])
    assert str(caught.value) == f"option {word!r}: must be followed by a value"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("-I/a;rm", "may have only letters, digits, spaces and ./+,=@%~:()*_-"),
        ("-I/a$b", "may have only letters, digits, spaces and ./+,=@%~:()*_-"),
        ("-DA\nB", "must be a text of one line"),
        ("-DA\0B", "must be a text of one line"),
        ("--unheard-of", "is not supported; supported: -I DIR, -D NAME=VALUE, -O3, -std=c++17, --use_fast_math, "
         "--extended-lambda, -rdc=true, -Xcompiler -fopenmp, -lm"),
        ("file.cu", "is not supported; supported: -I DIR, -D NAME=VALUE, -O3, -std=c++17, --use_fast_math, "
         "--extended-lambda, -rdc=true, -Xcompiler -fopenmp, -lm"),
    ],
)  # fmt: skip
def test_a_word_that_is_not_taken_is_refused(word, said):
    with pytest.raises(CompilerError) as caught:
        parse_flags([word])
    assert str(caught.value) == f"option {word!r}: {said}"


def test_texts_are_parted_as_a_shell_would():
    assert split_flags(["-O3 -DA='x y'", "-I/a"]) == ["-O3", "-DA=x y", "-I/a"]
    with pytest.raises(CompilerError):
        split_flags(["-DA='x"])
