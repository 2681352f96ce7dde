"""What simtmm finds, beside what compute-sanitizer says on an H100: where they differ, it is known why."""

import pytest

from tests.cuda.checks import faults, sanitizer
from tests.cuda.checks.sanitizer import ONLY_OURS, ONLY_THEIRS, finds_planted, measured, ours, said


@pytest.mark.parametrize("kernel", sorted({kernel for kernel, _ in said()}))
def test_what_compute_sanitizer_says_is_found_in_the_same_words(kernel):
    differs = {
        (tool, each) for (name, tool), found in said().items() if name == kernel for each in found - ours(kernel, tool)
    }
    assert bool(differs) == (kernel in ONLY_THEIRS), differs


def test_planted_faults_that_only_simtmm_finds_are_known():
    planted = [kernel for kernel in measured() if kernel in faults.FAULTS]
    assert {kernel for kernel in planted if not finds_planted(kernel)} == set(ONLY_OURS)
    assert (len(planted), len(ONLY_OURS)) == (50, 17)  # docs/checks.md has both


def test_only_races_of_shared_memory_are_reported():
    """The kernels whose reason is that racecheck looks at no global memory race there alone."""
    for kernel in (name for name, why in ONLY_OURS.items() if why == sanitizer.GLOBAL):
        assert {each.space for each in faults.found(kernel).harmful} == {"__global__"}


def test_rows_are_read_from_what_compute_sanitizer_prints(tmp_path):
    """Both sides of a hazard, one of a barrier, and that nothing was said; not what was cut off before that."""
    line = faults.first_line
    head = "========= COMPUTE-SANITIZER\n"
    where = "+0x100 in faults.cu:"
    (tmp_path / "missing_barrier.racecheck").write_text(
        f"{head}========= Error: Potential RAW hazard detected at __shared__ 0x4fc in block (2,0,0) :\n"
        f"=========     Write Thread (63,0,0) at missing_barrier{where}{line('missing_barrier') + 2}\n"
        f"=========     Read Thread (0,0,0) at missing_barrier{where}{line('missing_barrier') + 3}\n========= \n"
    )
    (tmp_path / "divergent_barrier.synccheck").write_text(
        f"{head}========= Barrier error detected. Divergent thread(s) in warp.\n"
        f"=========     at divergent_barrier{where}{line('divergent_barrier') + 3}\n========= \n"
    )
    (tmp_path / "right_barrier.initcheck").write_text(f"{head}right_barrier no error\n")
    (tmp_path / "unwritten_global.initcheck").write_text(head)
    assert list(sanitizer.rows(tmp_path)) == [
        ("missing_barrier", "racecheck", "Error: Potential RAW hazard", "2 3", 1),
        ("right_barrier", "initcheck", "nothing", "", ""),
        ("divergent_barrier", "synccheck", "Barrier error detected. Divergent thread(s) in warp", "3", 1),
    ]
