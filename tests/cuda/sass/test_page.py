"""docs/sass.md lists every opcode that is lifted."""

import re
from pathlib import Path

from simtmm.cuda.sass.families import HANDLERS

PAGE = Path(__file__).parents[3] / "docs" / "sass.md"


def test_what_is_lifted_is_listed():
    chapter = PAGE.read_text(encoding="utf-8").split("\n## Instructions that are lifted\n")[1].split("\n## ")[0]
    rows = [line for line in chapter.splitlines() if line.startswith("|")]
    assert set(re.findall(r"`([A-Z][\w.]+)`", "\n".join(rows))) == set(HANDLERS)
