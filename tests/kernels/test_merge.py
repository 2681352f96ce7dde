"""Kernels are folders of their own, so what two of them share is written twice: it must be the same."""

from pathlib import Path

KERNELS = Path(__file__).parents[2] / "kernels"


def ranking(kernel):
    """Of `merge_sections`, from where the section is in registers up to where it is in order in shared memory."""
    text = (KERNELS / kernel / "kernel.cu").read_text(encoding="utf-8")
    body = text[text.index("merge_sections(") :]
    begin, end = body.index("    JOIN();\n    for"), body.rindex("    SYNC();\n")
    return body[begin:end]


def test_a_section_is_merged_alike_on_its_own_and_within_a_sort():
    assert "LDS(part, middle)" in ranking("merge")
    assert ranking("merge") == ranking("merge-sort")
