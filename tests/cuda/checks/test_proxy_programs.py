"""Programs with tensor maps: nothing is found as they are, and a fence or a wait that is taken out is."""

from pathlib import Path

import pytest

from simtmm.cuda.checks.active import checking
from simtmm.cuda.checks.names import checks_of
from simtmm.programs.program import cuda_program

PROGRAMS = Path(__file__).parents[2] / "programs"


def found(source, folder):
    """What the checks find in a program, written into a folder with what it includes."""
    (folder / "check.h").write_text((PROGRAMS / "check.h").read_text(encoding="utf-8"), encoding="utf-8")
    program = folder / "program.cu"
    program.write_text(source, encoding="utf-8")
    with checking(checks_of("all")) as checker:
        cuda_program([str(program)]).run(output=folder / "trace.parquet")
    return checker.found


@pytest.mark.parametrize(
    ("taken", "hazard", "second"),
    [
        (None, None, None),
        ('asm volatile("fence.proxy.async.shared::cta;" ::: "memory");', "RAW", "bulk_group"),
    ],
)
def test_boxes_are_stored_behind_a_fence(taken, hazard, second, tmp_path):
    source = (PROGRAMS / "tensor_maps.cu").read_text(encoding="utf-8")
    if taken is None:
        assert found(source, tmp_path).harmful == ()
        return
    assert source.count(taken) == 1
    (finding,) = found(source.replace(taken, ""), tmp_path).harmful
    assert f"Potential {hazard} hazard" in finding.what
    assert "between the generic and the async proxy" in finding.what
    assert second in finding.sides[1].source
    assert finding.space == "__shared__"


@pytest.mark.parametrize("early", [False, True])
def test_a_stage_is_given_back_once_it_is_multiplied(early, tmp_path):
    """Early: before the wait for the products, which a GPU may still read the stage for."""
    source = (PROGRAMS / "hopper_gemm.cu").read_text(encoding="utf-8")
    waits = "\\nwgmma.wait_group.sync.aligned 0;"
    assert source.count(waits) == 1
    harmful = found(source.replace(waits, "") if early else source, tmp_path).harmful
    if not early:
        assert harmful == ()
        return
    kernels = {finding.kernel for finding in harmful}
    assert {"one_stage", "pipelined"} <= kernels
    for finding in harmful:
        assert "Potential WAR hazard" in finding.what
        assert "an asynchronous access and a thread that has not waited for it" in finding.what
        assert "wgmma.wait_group" in finding.hint
        assert "cp.async.bulk.tensor" in finding.sides[1].source


@pytest.mark.parametrize(
    ("taken", "is_found"),
    [
        ("    CHECK(cudaMemset(to, 0xff, COLUMNS * PITCH * 4));\n", False),  # boxes are written there, not read
        ("    CHECK(cudaMemcpy(from, matrix.data(), matrix.size() * 4, cudaMemcpyHostToDevice));\n", True),
    ],
    ids=["where boxes are stored", "where boxes are loaded"],
)
def test_a_box_of_memory_that_was_never_written_is_found_where_it_is_read(taken, is_found, tmp_path):
    source = (PROGRAMS / "tensor_maps.cu").read_text(encoding="utf-8")
    assert source.count(taken) == 1
    harmful = found(source.replace(taken, ""), tmp_path).harmful
    assert bool(harmful) == is_found
    for finding in harmful:
        assert finding.kernel == "transpose"
        assert "ninitialized" in finding.what


@pytest.mark.parametrize("name", ["cluster_exchange.cu", "tiles.cu", "pipelines.cu"])
def test_nothing_is_found_where_copies_clusters_and_wide_tiles_meet_at_barriers_in_memory(name, tmp_path):
    source = (PROGRAMS / name).read_text(encoding="utf-8")
    assert found(source, tmp_path).harmful == ()
