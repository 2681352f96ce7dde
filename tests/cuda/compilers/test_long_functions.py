"""A function of more statements than compilers read in a minute is refused before it is given to one."""

import pytest

from simtmm.cuda.compilers import compile_files, compile_source
from simtmm.cuda.compilers.long_functions import MOST_STATEMENTS, check_functions
from simtmm.errors import CompilerError

KERNEL = (
    "namespace n { struct S { int x; };\n__global__ void k(int *a) noexcept {\n  { for (int i = 0;;) { %s } }\n}\n}\n"
)
FORMS = {
    "a text": lambda path: compile_source(path.read_text(), name=str(path), architecture=80),
    "a file": lambda path: compile_files(path, architecture=80),
}


@pytest.mark.parametrize("read", FORMS.values(), ids=FORMS)
def test_a_function_of_too_many_statements_is_refused(read, tmp_path, monkeypatch):
    monkeypatch.setattr("simtmm.children.start.run", None)
    path = tmp_path / "k.cu"
    path.write_text(KERNEL % ("a[0]++;" * MOST_STATEMENTS))
    with pytest.raises(CompilerError, match=r"k\.cu:3: a function has over 100,000 statements: must have fewer"):
        read(path)


def test_functions_declarations_and_what_only_looks_like_statements_are_counted_apart():
    half = MOST_STATEMENTS // 2
    apart = KERNEL % (";" * (half - 2)) + "int x;" * MOST_STATEMENTS + KERNEL % (";" * (half - 2))
    looks = "const char *s = \";;{\"; char c = ';'; // ;;{\n/* ;{ */"
    check_functions("k.cu", (f"namespace m {{ {apart} }}" + KERNEL % (looks * half)[: 2 * MOST_STATEMENTS]).encode())
