"""A tool that fails names what was disassembled."""

import sys

import pytest

from simtmm.cuda.compilers.binaries.disassembly import _assembled
from simtmm.errors import CompilerError

FAILS = [sys.executable, "-c", "print('ptxas error   : no such thing'); raise SystemExit(1)"]


def test_an_assembler_that_fails_is_told_with_the_name_of_what_it_was_given():
    with pytest.raises(CompilerError, match=r"^k\.cu\b.*no such thing") as told:
        _assembled(".version 8.7", "sm_90", FAILS, "nowhere", "k.cu")
    assert ".version" not in str(told.value)


def test_so_is_a_disassembler(tmp_path):
    copies = "import shutil, sys; shutil.copy(sys.argv[3], sys.argv[5])"  # -arch=..., -lineinfo, source, -o, target
    fails = tmp_path / "fails"
    fails.write_text("#!/bin/sh\necho 'nvdisasm fatal   : no such thing' >&2\nexit 1\n")
    fails.chmod(0o700)
    with pytest.raises(CompilerError, match=r"^k\.cu\b.*no such thing"):
        _assembled(".version 8.7", "sm_90", [sys.executable, "-c", copies], str(fails), "k.cu")
