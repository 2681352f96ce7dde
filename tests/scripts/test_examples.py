"""The examples of docs/scripts.md in Numba CUDA and Triton, as a user runs them: each to a verdict on two machines."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from simtmm.__main__ import main

FOLDER = Path(__file__).parents[2] / "docs" / "scripts"
NEEDED = {"numba": "numba_cuda", "triton": "triton"}

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("machine", ["a100-80", "h100-sxm"])
@pytest.mark.parametrize(
    "path", sorted([*FOLDER.glob("numba_*.py"), *FOLDER.glob("triton_*.py")]), ids=lambda path: path.stem
)
def test_an_example_has_a_verdict(path: Path, machine: str, monkeypatch, capfd):
    framework = path.stem.split("_")[0]
    if find_spec(NEEDED[framework]) is None:
        pytest.skip(f"{framework} is not installed")
    monkeypatch.setattr(sys, "argv", ["simtmm", "run", str(path), "--machine", machine])
    with pytest.raises(SystemExit) as ended:
        main()
    message = capfd.readouterr()
    assert not ended.value.code, message.err
    assert ": True\n" in message.out  # what the example compares with NumPy
    assert ": False\n" not in message.out
    assert "\nVerdict: " in message.out
    assert f"{path.stem} on " in message.out
