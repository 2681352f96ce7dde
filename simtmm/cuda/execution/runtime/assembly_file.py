"""Reads the LLVM assembly files in this folder."""

import re
from functools import cache
from pathlib import Path

from simtmm.cuda.execution.layout import LANES, offsets


@cache
def assembly_file(name: str) -> str:
    """The text of an assembly file, with names in braces replaced by the offsets and constants of layout.py."""
    return with_offsets(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def with_offsets(text: str) -> str:
    """Assembly text, with names in braces replaced by the offsets and constants of layout.py."""
    values = {**offsets(), "IOTA": f"<{', '.join(f'i64 {n}' for n in range(LANES))}>"}
    return re.sub(r"\{([A-Z][A-Z_]*(?:\.\w+)?)\}", lambda found: str(values[found.group(1)]), text)
