"""launches.toml: what its keys do, and one line for each mistake."""

import numpy as np
import pytest

from simtmm import record
from simtmm.errors import KernelError, RecordingError, SimtmmError
from simtmm.recorder.compiled.launches_file import load_launches
from simtmm.watch import watched

pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")

ADD = """
#include "step.h"
__global__ void add(float* y, int n, float step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += step * STEP * FACTOR;
}
__global__ void twice(float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] *= 2;
}
"""
FILE = """
source = "add.cu"
options = ["-Iheaders", "-DFACTOR=1"]

[arrays]
y = "ones:float32:40"

[[launch]]
kernel = "add"
grid = 2
block = [32, 1]
arguments = { n = 40, y = "y", step = 0.5 }
repeat = 3

[[launch]]
kernel = "twice"
grid = 2
block = 32
arguments = ["y", 40]

[check]
y = "full:float32:40:5"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "step.h").write_text("#define STEP 1\n")
    (tmp_path / "add.cu").write_text(ADD)
    return tmp_path


@pytest.fixture
def run(folder):
    def make(text):
        (folder / "launches.toml").write_text(text)
        return record(folder / "launches.toml")

    return make


def test_launches_come_in_order_as_often_as_they_say_on_shared_arrays(run):
    trace = run(FILE)
    assert [launch.kernel for launch in trace.info.launches] == ["add", "add", "add", "twice"]
    assert [launch.block for launch in trace.info.launches] == [(32, 1, 1)] * 4
    assert trace.info.kernel == "launches"
    assert [array.name for array in trace.info.arrays] == ["y"]
    assert {site.file for site in trace.info.sites} == {"add.cu"}


def test_progress_is_of_all_launches(run):
    """It was of each alone: 100 % four times over."""
    reported = []
    with watched(lambda stage, done, total: reported.append((stage, done, total))):
        run(FILE)
    assert [each for each in reported if each[0].startswith("recording")] == [
        ("recording", blocks, 8) for blocks in (2, 4, 6, 8)
    ]


def test_files_are_looked_for_beside_it(run, folder, monkeypatch):
    np.save(folder / "start.npy", np.full(40, 2, np.float32))
    np.save(folder / "end.npy", np.full(40, 7, np.float32))
    monkeypatch.chdir("/")
    text = FILE.replace("ones:float32:40", "start.npy").replace("full:float32:40:5", "end.npy")
    assert run(text).info.events


def test_several_sources_are_linked(run, folder):
    (folder / "a.cu").write_text(
        "__device__ float step(int i);\n"
        "__global__ void go(float* y) { y[threadIdx.x] = step(threadIdx.x); }"
    )  # fmt: skip
    (folder / "b.cu").write_text("__device__ float step(int i) { return 2 * i; }")
    text = 'sources = ["a.cu", "b.cu"]\n[[launch]]\ngrid = 1\nblock = 8\narguments = ["zeros:float32:8"]\n'
    trace = run(text)
    assert {site.file for site in trace.info.sites} == {"a.cu", "b.cu"}


def test_a_wrong_answer_names_the_first_element(run):
    with pytest.raises(RecordingError) as caught:
        run(FILE.replace("full:float32:40:5", "full:float32:40:6"))
    assert str(caught.value) == (
        "kernel launches: wrong answer: y[0] is 5.0, should be 6.0 (40 elements are wrong)"
    )  # fmt: skip


COMPUTED = FILE.replace("-DFACTOR=1", "-DOTHER=1").replace(
    "[arrays]", "[parameters]\nFACTOR = 1\nWIDTH = 32\n[arrays]"
).replace("grid = 2\nblock = [32, 1]", 'grid = "ceil(40 / WIDTH)"\nblock = ["WIDTH", 1]')  # fmt: skip


def test_parameters_are_macros_and_sizes_follow_from_them(run, folder):
    assert run(COMPUTED).info.launches[0].grid == (2, 1, 1)
    (first, *_) = record(folder / "launches.toml", {"WIDTH": 8}).info.launches
    assert (first.grid, first.block) == ((5, 1, 1), (8, 1, 1))
    with pytest.raises(RecordingError, match="wrong answer"):
        record(folder / "launches.toml", {"FACTOR": 2})


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("WIDTH = 32", "WIDTH = [32]", "launches.toml: parameters.WIDTH = [32]: must be a number or a text"),
        ("WIDTH = 32", "seed = 32", "parameters.'seed': must be a C identifier other than seed"),
        ('["WIDTH", 1]', '"WIDHT"', "launch[0]: block 'WIDHT': WIDHT: is not a parameter; did you mean 'WIDTH'?"),
        ('["WIDTH", 1]', '"WIDTH / 64"', "block 'WIDTH / 64': gives 0.5: must be a whole number of at least 1"),
        ('["WIDTH", 1]', '"WIDTH("', "launch[0]: block 'WIDTH(': is not an expression"),
    ],
)
def test_a_mistake_in_what_is_computed_is_one_line(run, old, new, said):
    assert old in COMPUTED
    with pytest.raises(KernelError) as caught:
        run(COMPUTED.replace(old, new, 1))
    assert said in str(caught.value)


def test_a_tolerance_is_relative(run):
    close = FILE.replace("full:float32:40:5", "full:float32:40:5.01")
    assert run(f"{close}tolerance = 0.01\n").info.events
    with pytest.raises(RecordingError, match="wrong answer"):
        run(f"{close}tolerance = 0.001\n")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[arrays]", "arays = 1\n[arrays]", "launches.toml: unknown key 'arays'; did you mean 'arrays'?"),
        ("repeat = 3", "repaet = 3", "launches.toml: launch[0]: unknown key 'repaet'; did you mean 'repeat'?"),
        ("repeat = 3", "repeat = 0", "launch[0]: repeat = 0: must be a whole number from 1 to 1048576"),
        ("repeat = 3", "shared = -1", "launch[0]: shared = -1: must be a whole number from 0 to 2147483648"),
        ("grid = 2\nblock = [32", "block = [32", "launch[0]: 'grid' is missing"),
        ("block = 32", "", "launch[1]: 'block' is missing"),
        ("block = 32", 'block = "a"', "launch[1]: block = 'a': must be one to three sizes of at least 1"),
        ("block = 32", "block = [1, 2, 3, 4]", "must be one to three sizes of at least 1, such as 64 or 64x64"),
        ('source = "add.cu"', "", "must have either 'source', a file of device code, or 'sources', a list of them"),
        ('source = "add.cu"', 'source = "none.cu"', "launches.toml: source = none.cu: no such file"),
        ('source = "add.cu"', f'source = "{"x" * 5000}.cu"', ".cu: no such file"),
        ('source = "add.cu"', "source = 3", "sources = [3]: must be a list of texts"),
        ('y = "ones:float32:40"', "y = 3", "launches.toml: arrays.y = 3: must be a text such as 'zeros:float32:1000'"),
        ('y = "ones:float32:40"', 'y = "3"', "launches.toml: arrays.y = '3': must be an array"),
        ("step = 0.5", "step = [1]", "launch[0]: argument step = [1]: must be a number or a text"),
        ("step = 0.5", "stop = 0.5", "argument 'stop': unknown argument; did you mean 'step'?"),
        ("step = 0.5", 'step = "abc"', "launch[0]: argument step = 'abc': must be a number such as 1000"),
        (", step = 0.5", "", "argument 'step': is missing"),
        ('kernel = "twice"', 'kernel = "twise"', "add.cu: kernel 'twise': unknown; did you mean 'twice'?"),
        ('kernel = "twice"', "", "add.cu: which kernel? It has add, twice"),
        ("[check]\ny", "[check]\nz", "launches.toml: check.z: is not an array"),
        ("[check]", "[check]\ntolerance = 2", "check.tolerance = 2: must be a number from 0 to below 1"),
        ('"-DFACTOR=1"', '"-G"', "option '-G': not supported"),
        ("[check]", "[check", "launches.toml: is not TOML ("),
    ],
)
def test_a_mistake_is_one_line_that_says_where_and_what(run, old, new, said):
    assert old in FILE
    with pytest.raises(SimtmmError) as caught:
        run(FILE.replace(old, new, 1))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_without_launches_is_refused(folder):
    (folder / "l.toml").write_text('source = "add.cu"\n')
    with pytest.raises(KernelError, match=r"l\.toml: must have at least one \[\[launch\]\]"):
        load_launches(folder / "l.toml")


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(KernelError, match=r"none\.toml: can't be read"):
        load_launches(tmp_path / "none.toml")
