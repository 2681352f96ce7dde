"""docs/cuda-programs.md, done as it says."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "cuda-programs.md"


def test_page_is_done_as_it_says(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    (tmp_path / "reverse.cu").write_text(re.search(r"```cuda\n(.*?)```", text, re.DOTALL)[1])
    shown = re.search(r"```text\n(.*?)```", text, re.DOTALL)[1]
    commands = re.findall(r"(?m)^    simtmm (.*)$", text)
    assert len(commands) == 3
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "simtmm", *shlex.split(command)], cwd=tmp_path, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(shown)
        if command.startswith("run"):
            assert ("__global__" if "--lines" in command else "Where in the program") in done.stdout
    assert (tmp_path / "reverse.parquet").is_file()
