"""Content: what a program's results are kept by changes with all that decides them, and with nothing else."""

import numpy as np
import pytest

from simtmm.recorder.sources import opened_kernel
from simtmm.study.design.content import files_digest, kernel_digest, launches_digest
from tests.recorder.build import DEVICE, host

LAUNCHES = """
source = "twice.cu"
options = ["-Iheaders"]
[[launch]]
grid = 1
block = 32
arguments = { x = "input.npy", y = "zeros:float32:32" }
[check]
y = "expected.npy"
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A file of launches with a source, headers and arrays; and its digest as it is now."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "launches.toml").write_text(LAUNCHES)
    (tmp_path / "twice.cu").write_text(
        '#include "near.h"\n#include <far.h>\n__global__ void f(float *x, float *y) {}\n'
    )
    (tmp_path / "near.h").write_text('#include "nearer.h"\n')
    (tmp_path / "nearer.h").write_text("\n")
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "far.h").write_text("\n")
    for name in ("input.npy", "expected.npy"):
        np.save(tmp_path / name, np.zeros(32, np.float32))
    (tmp_path / "notes.txt").write_text("mine")
    path = tmp_path / "launches.toml"
    return lambda: launches_digest(path, opened_kernel(path))


def test_it_stays_where_nothing_changes_that_is_read(program, tmp_path):
    before = program()
    (tmp_path / "notes.txt").write_text("and more")
    assert program() == before


@pytest.mark.parametrize("name", ["launches.toml", "twice.cu", "near.h", "nearer.h", "headers/far.h"])
def test_it_changes_with_a_text_that_is_read(program, tmp_path, name):
    before = program()
    path = tmp_path / name
    path.write_text(path.read_text() + "\n")
    assert program() != before


def test_it_changes_with_a_header_that_an_option_names(program, tmp_path):
    launches = tmp_path / "launches.toml"
    launches.write_text(LAUNCHES.replace('"-Iheaders"', """'-DWHICH="other.h"', '-DUNUSED', '-Iheaders'"""))
    (tmp_path / "twice.cu").write_text("#include WHICH\n__global__ void f(float *x, float *y) {}\n")
    (tmp_path / "other.h").write_text("\n")
    before = program()
    assert program() == before
    (tmp_path / "other.h").write_text("\n\n")
    assert program() != before


@pytest.mark.parametrize("name", ["input.npy", "expected.npy"])
def test_it_changes_with_an_array_that_is_read(program, tmp_path, name):
    before = program()
    np.save(tmp_path / name, np.ones(32, np.float32))
    assert program() != before


def test_what_cannot_be_followed_is_never_the_same(program, tmp_path):
    (tmp_path / "twice.cu").write_text("#include CHOSEN_BY_NOBODY\n__global__ void f(float *x, float *y) {}\n")
    assert program() != program()


def test_of_a_folder_it_is_of_all_files_but_what_python_keeps(tmp_path):
    (tmp_path / "kernel.cu").write_text(DEVICE)
    (tmp_path / "host.py").write_text(host())
    before = kernel_digest(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "host.pyc").write_bytes(b"compiled")
    assert kernel_digest(tmp_path) == before
    (tmp_path / "table.txt").write_text("read by host.py")
    assert kernel_digest(tmp_path) != before


def test_a_comment_is_in_the_digest_of_files_alone(tmp_path):
    (tmp_path / "kernel.cu").write_text(DEVICE)
    (tmp_path / "host.py").write_text(host())
    results, files = kernel_digest(tmp_path), files_digest(tmp_path)
    (tmp_path / "kernel.cu").write_text(f"// a comment\n{DEVICE}")
    assert kernel_digest(tmp_path) == results
    assert files_digest(tmp_path) != files


def test_of_a_kernel_it_changes_with_what_makes_its_inputs(tmp_path, monkeypatch):
    """Of one that imports that; others have the digest that they had."""
    folders = [tmp_path / name for name in ("with", "without")]
    for folder, first in zip(folders, ("from simtmm.right_answer.linked_list import drawn_list\n", ""), strict=True):
        folder.mkdir()
        (folder / "kernel.cu").write_text(DEVICE)
        (folder / "host.py").write_text(first + host())
    before = [kernel_digest(folder) for folder in folders]
    changed = tmp_path / "linked_list.py"
    changed.write_text("def drawn_list(): ...\n")
    monkeypatch.setattr("simtmm.right_answer.linked_list.__file__", str(changed))
    assert [kernel_digest(folder) == digest for folder, digest in zip(folders, before, strict=True)] == [False, True]
