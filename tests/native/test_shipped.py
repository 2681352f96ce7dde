"""Object code in wheels: the list names what commands call, and what is compiled of it does the same."""

import importlib
import json
import subprocess
import sys

import numpy as np
import pytest

from simtmm.native import Loop, shipped
from simtmm.native.shipped import document, listed, object_name
from tests.native.shipped import COMMANDS, LIST, ROOT, called

HERE = sys.platform == "linux" and shipped._suits()


def loop_of(row):
    found = getattr(importlib.import_module(row.module), row.function)
    return found if isinstance(found, Loop) else Loop(found)


def test_the_list_is_read_as_it_was_written():
    rows = json.loads(LIST.read_text())
    assert document(list(listed())) == rows
    assert len(rows) > 10


def test_a_first_run_calls_nothing_that_a_wheel_has_not():
    """Else `python -m tests.native.shipped` writes the list anew."""
    rows = json.loads(LIST.read_text())
    assert [row["function"] for row in called(COMMANDS[0]) if row not in rows] == []


def test_each_loop_of_the_list_is_there_and_takes_such_arguments():
    for row in listed():
        assert len(loop_of(row)._names) == len(row.parameters), row.function


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What the processes of a wheel's build compile: of the shortest loop alone."""
    folder = tmp_path_factory.mktemp("objects")
    last = len(json.loads(LIST.read_text())) - 1
    subprocess.run([sys.executable, ROOT / "hatch_build.py", folder, str(last), str(last + 1)], check=True)
    return folder


@pytest.mark.skipif(not HERE, reason="compiled for x86-64-v3")
def test_object_code_of_the_package_is_taken_in_place_of_compiling(made, tmp_path, monkeypatch):
    monkeypatch.setenv("SIMTMM_COMPILED", str(tmp_path))
    monkeypatch.setattr(shipped, "_FOLDERS", (ROOT / "none", made))
    shipped._folder_of.cache_clear()
    (path,) = made.glob("*/*.o")
    (row,) = [row for row in listed() if object_name(row.function, row.parameters) == path.name]
    loop = loop_of(row)
    compiled, own = (Loop(loop.function, checked=False) for _ in range(2))  # wheels have none with checked indices
    monkeypatch.setattr(own, "_compiled", lambda parameters: pytest.fail("is compiled"))
    try:
        assert own.is_compiled(())
        taken = own._code_for(row.parameters)
    finally:
        shipped._folder_of.cache_clear()
    monkeypatch.setattr(shipped, "_FOLDERS", ())
    mine = compiled._code_for(row.parameters)
    assert taken.address != mine.address
    # Of no elements, each does nothing; of some, both the same.
    for count in (0, 5):
        tables = [_table(row.parameters, count) for _ in range(2)]
        given = [code.function(table.ctypes.data) for code, (table, _) in zip((taken, mine), tables, strict=True)]
        assert given[0] == given[1]
        for first, second in zip(tables[0][1], tables[1][1], strict=True):
            np.testing.assert_array_equal(first, second)


def _table(parameters, count):
    """A table of arguments as a call makes it: arrays of so many elements, all 0, and numbers."""
    numbers, arrays = [0], []
    for parameter in parameters:
        if isinstance(parameter, str):
            numbers.append(count)
            continue
        arrays.append(np.zeros((count,) * parameter.dimensions, parameter.element))
        numbers += [arrays[-1].ctypes.data, *arrays[-1].shape]
    return np.array(numbers, np.uint64), arrays


def test_sources_that_have_changed_have_no_object_code(made, monkeypatch):
    monkeypatch.setattr(shipped, "_FOLDERS", (ROOT / "none", made))
    monkeypatch.setattr(shipped, "sources_of", lambda module: "0" * 20)
    shipped._folder_of.cache_clear()
    try:
        for row in listed():
            assert shipped.shipped(row.module, row.function, row.parameters) is None
    finally:
        shipped._folder_of.cache_clear()


def test_another_processor_has_none(made, monkeypatch):
    monkeypatch.setattr(shipped, "_FOLDERS", (ROOT / "none", made))
    monkeypatch.setattr(shipped, "_suits", lambda: False)
    shipped._folder_of.cache_clear()
    try:
        for row in listed():
            assert shipped.shipped(row.module, row.function, row.parameters) is None
            assert not shipped.has_shipped(row.module, row.function)
    finally:
        shipped._folder_of.cache_clear()
