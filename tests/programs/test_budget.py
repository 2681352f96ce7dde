"""How much of a program's launches a report's trace has."""

from types import SimpleNamespace

import pytest

from simtmm.errors import CompilerError
from simtmm.programs import budget
from simtmm.programs.budget import Budget
from simtmm.programs.building import runtime_library as building
from simtmm.programs.building.runtime_library import HEADER, not_ours, runtime_library


def test_a_trace_takes_launches_until_it_is_full_and_then_a_part_of_each_new_kind():
    trace = Budget()
    most, part = budget.MOST_EVENTS, budget.MOST_EVENTS // budget.PART
    assert trace.events("a", 0, 0) == most
    assert trace.events("a", most - 10, 1) == part  # begun before the end
    assert trace.events("a", most, 2) == 0
    assert trace.events("b", most, 2) == part
    assert trace.events("b", most + part, 3) == 0
    assert trace.left_out == 2
    assert trace.words == [
        "2 later launches of the same kernels and sizes ran, but are not in the trace, which has at most 300 million "
        "events or 10,000 launches, about (simtmm record has no limit)"
    ]


def test_so_it_does_with_many_small_launches():
    trace = Budget()
    assert trace.events("a", 0, 0)
    assert trace.events("a", 5, budget.MOST_LAUNCHES - 1)
    assert trace.events("a", 5, budget.MOST_LAUNCHES) == 0


def test_a_recording_to_a_file_has_everything():
    trace = Budget(is_bounded=False)
    assert trace.events("a", 1 << 60, 1 << 30) is None
    assert trace.words == []


def test_each_function_that_the_header_declares_is_in_the_runtime():
    """Where it has no other code it is refused in a line, not by the linker."""
    import subprocess

    from simtmm.cuda.compilers.wheels import find_nvcc, include_folders

    header = next(folder / HEADER for folder in include_folders(find_nvcc()) if (folder / HEADER).is_file())
    refused = not_ours(header.read_text())
    assert {"cudaIpcGetMemHandle", "cudaImportExternalMemory"} <= {*refused}
    assert not {"cudaMalloc", "cudaGraphAddNode", "cudaOccupancyMaxActiveClusters"} & {*refused}
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", "-P", str(runtime_library())], capture_output=True, text=True, check=True
    ).stdout
    assert {*refused, "cudaGraphAddNode"} <= {line.split(" ", 1)[0] for line in listed.splitlines()}


@pytest.mark.parametrize("text", ["", "int cudaMalloc(void);"])
def test_only_what_is_declared_for_programs_counts(text):
    assert not_ours(text) == []


@pytest.mark.parametrize(
    ("said", "first"),
    [
        (
            "a.cpp: In function\na.cpp:3: error: no such thing\na.cpp:4: error: nor this",
            "a.cpp:3: error: no such thing",
        ),
        ("collect2: " + "x" * 300, "collect2: " + "x" * 190),
    ],
)
def test_a_runtime_that_does_not_compile_says_the_first_error_or_how_the_complaints_begin(
    monkeypatch, tmp_path, said, first
):
    for name in ("driver_types.h", building.HEADER):
        (tmp_path / name).write_text("")
    done = SimpleNamespace(status=1, complaints=said)
    monkeypatch.setattr(building, "run", lambda words, scratch: done)
    with pytest.raises(CompilerError) as told:
        building._compile(tmp_path / "runtime.so", "g++", [tmp_path])
    assert str(told.value) == f"simtmm's CUDA runtime for programs does not compile: {first}"
    assert told.value.log == said
