"""The headers that a source may read: never fewer than a compiler reads."""

import os
from pathlib import Path

import pytest

from simtmm.cuda.compilers import includes
from simtmm.cuda.compilers.includes import included


def found(text, folder, *folders, headers=None):
    message = included([(text.encode(), folder)], folders, headers)
    return {Path(path).relative_to(folder).as_posix() for path, _ in message.digests}, message.complete


@pytest.fixture
def folder(tmp_path):
    for name, text in {
        "a.h": '#include "b.h"\n', "b.h": "int b;\n", "sub/c.h": '#  include "d.h"', "sub/d.h": "", "other.h": "",
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        *('#include "b.h"', "#include <b.h>", '  #  include   "b.h"', '#/* x */include/**/"b.h"', '%:include "b.h"'),
        *('#inc\\\nlude "b.h"', '#if 0\n#include "b.h"\n#endif', '#include_next "b.h"', '#if __has_include("b.h")'),
        *('#define HEADER "b.h"\n#include HEADER', "#define HEADER <b.h>\n#include HEADER"),
        *("#define H(name) <name.h>\n#include H(b)", "#  define H(x, y) <x.y> // y\n#if __has_include(H(b, h))"),
        *('#define B H\n#define H "b.h" /* */\n#include B', "#define S(x) #x\n#define H S(b.h)\n#include H"),
        *("#include H\n#if 1\n#define H <b.h>\n#else\n#define H <none.h>\n#endif",),
    ],
)  # fmt: skip
def test_a_header_is_found_however_it_is_included(line, folder):
    assert found(line, folder) == ({"b.h"}, True)


def test_headers_of_headers_are_found_beside_them(folder):
    assert found('#include "a.h"\n#include "sub/c.h"', folder) == ({"a.h", "b.h", "sub/c.h", "sub/d.h"}, True)


def test_headers_are_found_in_folders_that_are_named(folder):
    assert found("#include <c.h>", folder) == (set(), True)
    assert found("#include <c.h>", folder, folder / "sub") == ({"sub/c.h", "sub/d.h"}, True)


def test_all_that_may_be_meant_are_found(folder):
    (folder / "sub" / "b.h").write_text("")
    assert found('#include "b.h"', folder, folder / "sub")[0] == {"b.h", "sub/b.h"}


def test_headers_in_memory_are_followed(folder):
    assert found('#include "x.h"', folder, headers={"x.h": '#include "b.h"'}) == ({"b.h"}, True)


def test_the_content_of_a_header_counts(folder):
    before = included([(b'#include "b.h"', folder)], [])
    (folder / "b.h").write_text("int c;\n")
    assert included([(b'#include "b.h"', folder)], []) != before


@pytest.mark.parametrize(
    "define",
    [
        *("", "#define H(x) <x>", "#define H other(1) 2", "#define H H", "#define O(x) b##x\n#define H O(.h)"),
        *("#define D sub\n#define H <D/x.h>", "#define N b\n#define O(x) <x.h>\n#define H O(N)"),
        *("#define O(x, y) <x>\n#define H O(b.h)", "#define O <b.h>\n#define H O(1)", "#define H UNKNOWN"),
    ],
)
def test_what_can_not_be_followed_is_reported(define, folder):
    assert found(f"{define}\n#include H", folder) == (set(), False)


def test_a_macro_in_parentheses_is_known_to_change_the_name(folder):
    assert not found("#define O(x) <x>\n#define N other.h\n#include O(N)", folder)[1]


def test_each_definition_of_a_macro_counts_and_one_that_can_not_be_followed_is_reported(folder):
    text = '#ifdef A\n#define H "b.h"\n#elif B\n#define H <other.h>\n#else\n#define H {}\n#endif\n#include H'
    assert found(text.format('"sub/d.h"'), folder) == ({"b.h", "other.h", "sub/d.h"}, True)
    assert found(text.format("f(1)"), folder) == ({"b.h", "other.h"}, False)


def test_a_macro_of_a_header_that_a_macro_names_is_followed(folder):
    (folder / "b.h").write_text("#define NEXT <other.h>\n#include NEXT\n#include FIRST\n")
    text = "#define FIRST <b.h>\n#include FIRST"
    assert found(text, folder) == ({"b.h", "other.h"}, True)
    (folder / "other.h").write_text("#undef FIRST\n#define FIRST <a.h>\n")
    assert found(text, folder) == ({"a.h", "b.h", "other.h"}, True)


def test_macros_that_stand_for_very_many_others_are_reported(folder):
    text = "".join(f"#define H(x) H(x {each})\n" for each in "abcdefgh") + '#define H(x) "b.h"\n#include H(1)'
    assert found(text, folder) == ({"b.h"}, False)


def test_a_header_that_includes_itself_ends(folder):
    (folder / "b.h").write_text('#include "b.h"')
    assert found('#include "b.h"', folder) == ({"b.h"}, True)


def test_what_is_no_file_or_larger_than_any_header_is_not_read(folder, monkeypatch):
    """A compiler may, in its own process; what is made of it is not kept."""
    monkeypatch.setattr(includes, "LARGEST", 100)
    (folder / "large.h").write_bytes(b"//" + b"x" * 200)
    os.mkfifo(folder / "pipe.h")
    for name in ("/dev/zero", "pipe.h", "large.h"):
        assert found(f'#include "{name}"\n#include "b.h"\n', folder) == ({"b.h"}, False), name
    assert found('#include "sub"\n#include "b.h"\n', folder) == ({"b.h"}, False)
    assert found('#include "missing.h"\n#include "b.h"\n', folder) == ({"b.h"}, True)
