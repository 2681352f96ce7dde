"""What an H100 printed of wgmma's descriptors, tensor maps, elect, clusters and stmatrix, from the same program.

A descriptor's layouts, the base offset of a swizzle among them, are found out by multiplying by a unit matrix.
"""

from pathlib import Path

import pytest

from simtmm.programs.program import cuda_program

MEASURED = Path(__file__).parents[3] / "traces" / "measured" / "h100-sxm"
PROGRAM = MEASURED / "sources" / "ladder" / "semantics.cu"


def told_by_the_gpu() -> dict[str, list[str]]:
    """Its lines by the letter of their part; the notes of what went wrong are left out."""
    parts: dict[str, list[str]] = {}
    part = ""
    for line in (MEASURED / "hopper_semantics.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith((" ", "#")):
            part = line[0]
        if not line.startswith("#"):
            parts.setdefault(part, []).append(line)
    return parts


@pytest.mark.parametrize("part", ["a", "b", "d", "e", "g"])
def test_the_program_prints_what_it_printed_on_a_gpu(part, capfd, tmp_path) -> None:
    cuda_program([str(PROGRAM)], words=[part]).run(output=tmp_path / "trace.parquet")
    found = capfd.readouterr().out.splitlines()
    # Addresses within shared memory (f) begin elsewhere here; a box of a wrong coordinate ends the program (#)
    found = [line for line in found if not line.startswith(("f", "#"))]
    expected = told_by_the_gpu()[part]
    assert len(expected) > 4
    assert list(map(_without_place, found)) == list(map(_without_place, expected))


def _without_place(line: str) -> str:
    """Without the multiprocessor that a block ran on, which nothing says beforehand."""
    return line.partition(" smid ")[0]


def test_a_product_in_clusters_gives_the_bits_that_it_gave_on_a_gpu(capfd, tmp_path) -> None:
    kernel, size = "5", "512"
    cuda_program([str(PROGRAM.with_name("main.cu"))], words=[kernel, size]).run(output=tmp_path / "trace.parquet")
    (found,) = [line for line in capfd.readouterr().out.splitlines() if line.startswith(f"{kernel},{size},")]
    lines = (MEASURED / "hopper_ladder.csv").read_text(encoding="utf-8").splitlines()
    names = lines[0].split(",")
    (expected,) = [line for line in lines if line.startswith(f"{kernel},{size},")]
    for name in ("max_abs_error", "hash"):
        assert found.split(",")[names.index(name)] == expected.split(",")[names.index(name)]


def test_a_wrong_first_coordinate_is_named(capfd, tmp_path) -> None:
    cuda_program([str(PROGRAM)], words=["b"]).run(output=tmp_path / "trace.parquet")
    assert "the first coordinate, 3, is not a multiple of 16 bytes" in capfd.readouterr().err
