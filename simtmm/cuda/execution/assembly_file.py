"""Files of LLVM assembly that stand beside this one."""

import re
from functools import cache
from pathlib import Path

from simtmm.cuda.execution.layout import LANES, offsets


@cache
def assembly_file(name: str) -> str:
    """The text of one, with the offsets and constants of layout.py where it has their names in braces."""
    return with_offsets(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def with_offsets(text: str) -> str:
    """Assembly, with the offsets and constants of layout.py where it has their names in braces."""
    values = {**offsets(), "IOTA": f"<{', '.join(f'i64 {n}' for n in range(LANES))}>"}
    return re.sub(r"\{([A-Z][A-Z_]*(?:\.\w+)?)\}", lambda found: str(values[found.group(1)]), text)
