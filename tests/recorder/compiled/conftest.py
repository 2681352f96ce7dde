"""Small programs of plain CUDA, recorded as compiled."""

import pytest

from simtmm import record
from simtmm.errors import SimtmmError
from simtmm.recorder.compiled.cuda_file import cuda_program

pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """Record one launch of a text of CUDA, which lies in a file k.cu in the working directory, and give its trace."""
    monkeypatch.chdir(tmp_path)

    def make(source, grid=1, block=32, arguments=(), suffix=".cu", output=None, form=None, architecture=None, **what):
        (tmp_path / f"k{suffix}").write_text(source)
        program = cuda_program(f"k{suffix}", grid, block, arguments, **what)
        return record(program, output=output, form=form, architecture=architecture)

    return make


@pytest.fixture
def refused(ran, tmp_path):
    """The line that a recording to a file fails with; neither the file nor a part of one may be left."""

    def make(*words, **what):
        folder = tmp_path / "traces"
        folder.mkdir(exist_ok=True)
        with pytest.raises(SimtmmError) as caught:
            ran(*words, output=folder / "t.parquet", **what)
        assert list(folder.iterdir()) == []
        text = str(caught.value)
        assert "\n" not in text
        return text

    return make
