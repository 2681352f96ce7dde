"""Micro-kernels on a GPU, without one: a stand-in for CuPy runs their PTX, and each answer is looked at."""

import sys

import numpy as np
import pytest

from simtmm import Machine, load_machine
from simtmm.errors import RecordingError, StudyError
from simtmm.measurement.measure import measure
from simtmm.measurement.micro import answers
from simtmm.measurement.micro.limits import loads_from_l1, wavefronts
from simtmm.measurement.micro.measured import load_measured, micro_table
from simtmm.measurement.micro.programs import by_file, pairs, program
from simtmm.measurement.micro.table import FOLDER, given_words, rows
from tests.cuda.compilers.conftest import needs_machine_code
from tests.recorder.ptx_cupy import PtxCupy

FILES = by_file()


@pytest.fixture
def cupy(monkeypatch):
    fake = PtxCupy()
    monkeypatch.setitem(sys.modules, "cupy", fake)
    fake.seconds = lambda name, *shape: 0.01 if name == "simtmm_clock" else 1e-6
    return fake


@needs_machine_code
@pytest.mark.parametrize("source", FILES)
def test_a_files_rows_are_timed_one_after_another_and_their_answers_are_right(source, cupy):
    """With twice the trips that are simulated, so that an answer that forgets a trip would differ."""
    measured = measure(program(source, FILES[source]), {"scale": 2}, repeat=1, warm_up=0, cold=False)
    assert [one.kernel for one, other in pairs(measured.launches)] == [row.kernel for row in FILES[source]]
    assert {launch.grid for launch in measured.launches} == {(1, 1, 1)}


@needs_machine_code
def test_a_wrong_answer_would_be_noticed(cupy):
    wrong = program("barriers.cu", FILES["barriers.cu"])
    wrong.host.case(type("P", (), {"scale": 1})).expected["out3"][5] += 1
    with pytest.raises(RecordingError, match=r"wrong answer: out3\[5\] is .*, should be "):
        measure(wrong, repeat=1)


def test_every_file_of_kernels_is_in_the_table_and_every_name_is_unique():
    names = [row.name for row in rows()]
    assert len(set(names)) == len(names)
    assert {path.name for path in FOLDER.glob("*.cu")} == set(FILES)
    assert [row for of in FILES.values() for row in of] == list(rows())


def test_every_limit_says_where_it_comes_from_and_why_it_is_reached_or_not():
    assert [row.name for row in rows() if not (row.limit.source and row.limit.why)] == []


def test_gpus_before_turing_have_no_ldmatrix():
    assert set(FILES) - set(by_file((7, 0))) == {"ldmatrix.cu"}
    assert by_file((7, 5)) == FILES


def test_repetitions_are_of_each_warp_or_of_the_block():
    (row,) = [row for row in rows() if row.name == "shared-conflict-2"]
    assert row.repetitions(3) == 3 * 8 * 16  # trips, loads, warps
    (row,) = [row for row in rows() if row.name == "barrier-4-warps"]
    assert row.repetitions(3) == 3 * 8
    assert row.of_one(100, 100 + 3 * 8 * 5 * (row.trips[1] - row.trips[0]), scale=3) == 5


@pytest.mark.parametrize(
    ("words", "size", "passes"),
    [
        (np.arange(32), 4, 1),
        (np.arange(32) * 2, 4, 2),
        (np.arange(32) * 32, 4, 32),
        (np.arange(32) * 33, 4, 1),
        (np.zeros(32, int), 4, 1),
        (np.arange(32) * 2, 8, 2),
        (np.arange(32) * 4, 16, 4),
        (np.arange(32) * 8, 16, 8),
    ],
)
def test_wavefronts_are_passes_over_banks_by_lanes_that_are_served_together(words, size, passes):
    assert wavefronts(4 * words[np.newaxis], size) == passes


def test_a_chain_of_products_is_what_a_loop_gives():
    x, trips = np.arange(32, dtype=np.uint32), 3
    for _ in range(answers.LINKS * trips):
        x = x * np.uint32(1664525) + np.uint32(1013904223)
    assert answers.of_products(1664525, 1013904223)(given_words(), trips).tolist() == x.tolist()


def test_nothing_measured_is_no_table():
    assert micro_table({}, "gpu") == []


@needs_machine_code
def test_what_another_version_of_the_table_has_measured_is_left_out(cupy):
    few = measure(program("barriers.cu", FILES["barriers.cu"][:2]), repeat=1, warm_up=0, cold=False)
    assert micro_table({"barriers": few}, "gpu") == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("gpu,name\nh200,chain-lds\n", "has no column 'cycles'"),
        ("name,cycles\nchain-ldx,4\n", "line 2: name = 'chain-ldx': no such micro-kernel; did you mean 'chain-lds'"),
        ("name,cycles\nchain-lds,-4\n", "line 2: cycles = '-4': must be a number above 0"),
        ("name,cycles\nchain-lds\n", "line 2: cycles = None: must be a number above 0"),
        ("name,cycles\nchain-lds,nan\n", "line 2: cycles = 'nan': must be a number above 0"),
    ],
)
def test_a_file_of_measured_cycles_that_makes_no_sense_is_refused(text, line, tmp_path):
    (tmp_path / "micro.csv").write_text(text)
    with pytest.raises(StudyError) as caught:
        load_measured(tmp_path / "micro.csv")
    assert line in str(caught.value)


def test_a_pass_over_turings_banks_takes_two_cycles():
    limits = {row.name: row.limit for row in rows()}
    assert limits["shared-conflict-8"].cycles(load_machine("t4")) == 16
    assert limits["shared-conflict-8"].cycles(load_machine("a100-80")) == 8


@pytest.mark.parametrize(
    ("first", "stride", "lines"),
    [([0], 4, 1), ([4], 4, 2), ([128], 4, 1), ([124], 4, 2), ([0], 8, 2), ([0], 128, 32), ([0, 64], 4, 1.5)],
)
def test_a_load_from_the_l1_looks_at_the_tags_of_each_line_that_it_touches(first, stride, lines):
    machine = load_machine("h100-sxm").replace({"memory.pipe.tag_interval": 100})  # far beyond any other limit
    addresses = np.array(first)[:, np.newaxis] + stride * np.arange(32)
    assert loads_from_l1(addresses).cycles(machine) == 100 * lines


def test_what_a_machine_says_nothing_of_has_the_guides_limit():
    """An access takes a cycle, if only that of its issue; a pass over the banks takes one."""
    plain = Machine.from_dict(
        {
            "name": "plain",
            "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 32},
            "memory": {"latency": 400, "chunk_words": 32},
        }
    )
    limits = {row.name: row.limit.cycles(plain) for row in rows()}
    assert limits["l1-stride-8"] == limits["shared-conflict-8"] == 8
    assert limits["l2-buffer-512-KiB"] == limits["shared-load-4-bytes"] == limits["chain-shuffle"] == 1
    assert min(limits.values()) == 1
