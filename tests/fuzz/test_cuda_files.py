"""CUDA files as users give them, with anything in them: compiled and recorded, or refused in one line.

Texts for the compiler, words for it, PTX that it made of real kernels, and sizes and arguments of a launch. What is
compiled runs too: each access is checked against its array, and a launch ends at a limit.
"""

import json
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from simtmm import record
from simtmm.cuda.compilers.compile import compile_source
from simtmm.cuda.ptx import parse_module
from simtmm.programs.building.flags import parse_flags, split_flags
from simtmm.recorder.compiled.cuda_file import cuda_program
from tests.cuda.compilers.conftest import needs_ptxas
from tests.examples import examples
from tests.fuzz.bounds import read_or_refused
from tests.fuzz.mutations import Many, changed_bytes
from tests.fuzz.targets.cuda_files import ARGUMENTS, FLAGS, SOURCE, WORDS, inputs_of
from tests.fuzz.targets.ptx import translated


@pytest.fixture(scope="module")
def ptx():
    """What the compiler makes of the source."""
    return compile_source(SOURCE, architecture=80).ptx


@examples(150)
@given(st.lists(st.sampled_from(FLAGS) | st.text(max_size=8), max_size=5), st.booleans())
def test_words_for_the_compiler_are_taken_or_refused(words, as_text):
    """None that is taken says more to a shell, or to the host's compiler, than itself."""
    made = read_or_refused(lambda: parse_flags(split_flags([" ".join(words)]) if as_text else words))
    for word in (*made.compiling, *made.macros, *made.linking) if made else ():
        assert not set(word) & set("\n\0")
    for word in made.compiling if made else ():
        assert not set(word) & set(";|&<>$`\\\"'#!{}[]?")


@pytest.mark.skipif(
    "config.getoption('--hypothesis-profile') != 'long'",
    reason="a source may have NVRTC fill gigabytes before it ends, which takes its time",
)
@needs_ptxas
@examples(10)
@given(content=changed_bytes(Many([SOURCE.encode()])))
def test_a_source_is_compiled_or_refused(monkeypatch_module, content):
    assume(not re.search(rb"[0-9]{5}|0x|1e", content))  # an array of as many elements is made
    made = read_or_refused(lambda: compile_source(content.decode("utf-8", "replace"), architecture=80))
    if made is not None:
        read_or_refused(lambda: translated(made.ptx))


@needs_ptxas
@examples(60)
@given(data=st.data())
def test_ptx_of_a_real_kernel_is_translated_or_refused(ptx, data):
    content = data.draw(changed_bytes(Many([ptx.encode()])))
    read_or_refused(lambda: translated(content.decode("utf-8", "replace")))


@needs_ptxas
@examples(10)
@given(data=st.data())
def test_ptx_of_a_real_kernel_runs_or_is_refused(folder, ptx, monkeypatch_module, data):
    """What still compiles does other things at other places: within its arrays, or it says where it left them."""
    (folder / "k.ptx").write_bytes(data.draw(changed_bytes(Many([ptx.encode()]))))
    arguments = [argument.partition("=")[2] for argument in ARGUMENTS]

    def run():
        trace = record(cuda_program(folder / "k.ptx", 2, 32, arguments), most_events=100_000)
        json.dumps(trace.info.to_dict())
        return trace

    read_or_refused(run)


@needs_ptxas
@examples(60)
@given(
    grid=st.sampled_from([*WORDS, 1, 2]),
    block=st.sampled_from([*WORDS, 32, 64]),
    arguments=st.lists(st.sampled_from([*WORDS, *ARGUMENTS]), max_size=5),
    shared=st.sampled_from([0, 0, 1, -1, 2**31, 2**63]),
)
def test_a_launch_is_recorded_or_refused(folder, ptx, grid, block, arguments, shared):
    path = folder / "launched.ptx"
    path.write_text(ptx)
    read_or_refused(lambda: inputs_of(cuda_program(path, grid, block, arguments, shared=shared)))


@needs_ptxas
def test_what_is_changed_compiles_and_runs(folder, ptx):
    assert len(parse_module(ptx).functions) >= 1
    (folder / "plain.cu").write_text(SOURCE)
    made = record(cuda_program(folder / "plain.cu", 2, 32, ARGUMENTS))
    assert made.info.events > 0


@pytest.fixture(scope="module")
def monkeypatch_module():
    """Nothing of what is drawn is kept in the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("compile", "ptxas", "binaries.disassembly"):
            patch.setattr(f"simtmm.cuda.compilers.{module}.kept", lambda name, parts, make: make())
        yield patch
