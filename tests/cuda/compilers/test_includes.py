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


def test_what_can_not_be_followed_is_reported(folder):
    assert found("#include HEADER", folder) == (set(), False)


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
