"""What Nsight Compute measured, read from real exports of an H100 and set beside runs of the same launches."""

import json
from pathlib import Path

import pytest

from simtmm import run
from simtmm.analysis.nsight import beside
from simtmm.errors import StudyError
from simtmm.measurement.nsight import COMPUTE, Profile, load_nsight, load_profile
from simtmm.report.nsight import describe_beside
from tests.cuda.compilers.conftest import needs_machine_code

EXPORTS = Path(__file__).parents[2] / "trace" / "importers" / "ncu"
HEAD = '"ID","Kernel Name","Grid Size","Block Size","gpu__time_duration.sum"'
UNITS = f'{HEAD}\n"","","","","us"\n'
SAXPY = """
__global__ void saxpy(const float* x, float* y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
LAUNCHES = """
source = "saxpy.cu"
[arrays]
x = "zeros:float32:4194304"
y = "zeros:float32:4194304"
[[launch]]
grid = 16384
block = 256
arguments = { x = "x", y = "y", a = 2.0, n = 4194304 }
"""


def test_the_raw_page_is_read_in_plain_units():
    saxpy, strided, tile, sums = load_nsight(EXPORTS / "raw.csv")
    assert [each.kernel for each in (saxpy, strided, tile, sums)] == [
        "saxpy", "strided", "transpose_tile<0>", "sum_divergent",
    ]  # fmt: skip
    assert (saxpy.grid, saxpy.block) == ((16384, 1, 1), (256, 1, 1))
    assert saxpy.values == {
        "seconds": pytest.approx(16.352e-6), "instructions": 2490368, "requests": 393216, "lines": 393216,
        "bank_conflicts": 0, "l2_hit_rate_of_loads": pytest.approx(0.00056, rel=0.01), "bytes_read": 33558272,
    }  # fmt: skip
    assert tile.values["bank_conflicts"] == 1015808


def test_the_details_page_has_the_same_times_and_the_occupancy():
    raw, details = (load_nsight(EXPORTS / f"{page}.csv") for page in ("raw", "details"))
    assert [each.kernel for each in raw] == [each.kernel for each in details]
    for one, other in zip(raw, details, strict=True):
        assert other.values["seconds"] == pytest.approx(one.values["seconds"], rel=1e-3)
        assert other.values["instructions"] == one.values["instructions"]
        assert 0.6 < other.values["occupancy"] < 1


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nsight")
    (folder / "saxpy.cu").write_text(SAXPY)
    (folder / "saxpy.toml").write_text(LAUNCHES)
    return run(folder / "saxpy.toml", "h100-sxm", what_if=False)


@needs_machine_code
def test_a_launch_stands_beside_its_own_and_counts_are_those_of_the_gpu(ran):
    found = beside(ran, load_profile([EXPORTS / "raw.csv"]))
    assert found.left_out == ("strided", "transpose_tile<0>", "sum_divergent")
    (launch,) = found.launches
    compared = {each.name: each for each in launch.compared}
    assert (launch.number, launch.kernel) == (0, "saxpy")
    for name in ("instructions", "requests", "lines"):
        assert compared[name].difference == 0, name
    assert abs(compared["seconds"].difference) < 0.5  # warm here, and cold on the GPU
    assert compared["bank_conflicts"].difference is None
    assert 0 < compared["l2_hit_rate_of_loads"].difference <= 1
    document = json.loads(json.dumps(found.to_dict()))
    assert document["launches"][0]["requests"] == {"simulated": 393216, "measured": 393216, "difference": 0}
    _, first, _, last = describe_beside(found)
    assert str(first.title) == "Launch 0 of saxpy, compared with Nsight Compute"
    assert last == "Measured, but not launched here: strided, transpose_tile<0>, sum_divergent."


@needs_machine_code
def test_a_run_that_launched_none_of_them_is_told_what_was_measured(ran):
    others = [(COMPUTE, each) for each in load_nsight(EXPORTS / "raw.csv") if each.kernel != "saxpy"]
    with pytest.raises(StudyError, match="no measured launch matches this run: measured strided 16384x1x1"):
        beside(ran, Profile(tuple(others)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.csv: is empty: must be CSV of Nsight Compute"),
        ("kernel,seconds\na,1\n", "f.csv: is no export of a profiler: must be CSV of Nsight Compute"),
        ('"ID","Grid Size","Block Size"\n', r"f.csv:1: has no column 'Kernel Name'"),
        (f"{HEAD}\n", "has no row of units"),
        (UNITS, "has no launch"),
        (f'{UNITS}"0","f","(1, 1)","(1, 1, 1)","1"\n', r"f.csv:3: Grid Size = '\(1, 1\)': must be three sizes"),
        (f'{UNITS}"0","f","(1, 1, 1)","(1, 1, 1)","x"\n', r"f.csv:3: gpu__time_duration.sum = 'x': must be a number"),
        (f'{HEAD}\n"","","","","ps"\n"0","f","(1, 1, 1)","(1, 1, 1)","1"\n', "unit 'ps': must be one of s, sec"),
    ],
)  # fmt: skip
def test_what_is_no_export_is_refused_by_line_and_column(text, message, tmp_path):
    path = tmp_path / "f.csv"
    path.write_text(text)
    with pytest.raises(StudyError, match=message):
        load_nsight(path)


def test_what_stands_above_the_table_is_passed_over(tmp_path):
    """ncu --csv without an output file prints its own lines first."""
    path = tmp_path / "f.csv"
    row = '"0","void a::f<int>(int)","(2, 1, 1)","(32, 1, 1)","1,000.5"'
    path.write_text(f"==PROF== Connected\n{UNITS}{row}\n")
    (launch,) = load_nsight(path)
    assert (launch.kernel, launch.values) == ("a::f<int>", {"seconds": pytest.approx(1.0005e-3)})
