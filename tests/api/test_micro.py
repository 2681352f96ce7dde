"""Micro-kernels from Python."""

import pytest

import simtmm
from simtmm.analysis import micro as module
from simtmm.errors import StudyError
from simtmm.measurement.micro.programs import by_file
from tests.cuda.compilers.conftest import needs_machine_code


@needs_machine_code
def test_a_machine_by_name_and_a_file_of_measured_cycles(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "by_file", lambda capability: {"barriers.cu": by_file()["barriers.cu"]})
    (tmp_path / "micro.csv").write_text("name,cycles\nbarrier-1-warp,17.5\n")
    seen = []
    found = simtmm.micro("a100-80", measured=tmp_path / "micro.csv", watch=lambda *told: seen.append(told))
    assert isinstance(found, simtmm.Micro)
    assert found.results[0].measured == 17.5
    assert found.results[0].limit < found.results[0].simulated
    assert seen[0] == ("micro-kernels", 0, 1)


def test_a_machine_of_another_maker_is_refused():
    with pytest.raises(StudyError, match="machine MI210: has no compute_capability"):
        simtmm.micro("mi210")
