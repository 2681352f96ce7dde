"""Counters of the convolution: what is known of small ones by hand, and what Nsight counted of large ones."""

import numpy as np
import pytest

from simtmm import record
from simtmm.errors import StudyError
from simtmm.recorder.compiled.cuda_file import cuda_program
from simtmm.validation.cases.convolution_counters import SAMPLE, measured
from simtmm.validation.counters.convolution import CompiledConvolution, Configuration, measured_counters
from simtmm.validation.counters.counters import counters
from simtmm.validation.counters.executions import executions
from tests.cuda.compilers.conftest import needs_machine_code

pytestmark = needs_machine_code

EVEN = Configuration(8, 4, 2, 1, 0, width=64, height=32, filter=3)  # tiles of 16 x 4
UNEVEN = Configuration(8, 4, 1, 2, 1, width=60, height=31, filter=3)  # tiles of 8 x 8


COPY = """
__global__ void copy(const float* x, float* y)
{
    __shared__ float s[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[2 * threadIdx.x] = x[i];
    __syncthreads();
    y[i] = s[2 * (threadIdx.x ^ 1)];
}
"""


@pytest.mark.parametrize("form", ["ptx", "compiled"])
def test_a_kernel_is_counted_as_ptx_and_as_machine_code(tmp_path, form):
    """3 blocks of 2 warps: a warp loads and stores 4 sectors, and meets twice in each bank of shared memory."""
    (tmp_path / "copy.cu").write_text(COPY)
    arguments = ("x=random:float32:192", "y=zeros:float32:192")
    trace = record(cuda_program(tmp_path / "copy.cu", 3, 64, arguments), form=form, architecture=75)
    found = executions(trace)
    kinds = {site.site: site.kind for site in trace.info.sites}

    def of(table, kind):
        return [sum(int(row[site]) for site in kinds if kinds[site] == kind and site < len(row)) for row in table]

    assert of(found.warps, "async") == of(found.warps, "store") == [2, 2, 2]
    assert of(found.threads, "barrier") == [64, 64, 64]
    assert of(found.wavefronts, "shared_load") == of(found.wavefronts, "shared_store") == [4, 4, 4]
    assert of(found.sectors, "store") == found.read_sectors.tolist() == [8, 8, 8]


@pytest.fixture(scope="module")
def even():
    return counters(EVEN)


@pytest.fixture(scope="module")
def uneven():
    return counters(UNEVEN)


def whole(configuration):
    """The same, of all blocks."""

    class All(Configuration):
        def samples(self):
            across, down, _ = self.grid
            yield across * down, list(range(across * down))

    return counters(All(**vars(configuration)))


def test_a_tile_with_its_border_is_loaded_once_by_each_block(even):
    """A warp is 8 threads wide and 4 high: of 6 rows of 18 pixels it loads 4 and 2, in 3 steps each."""
    blocks = 4 * 8
    assert even["global_load_requests"] == blocks * 2 * 3
    assert even["shared_bytes"] == 4 * 18 * 6


def test_products_are_summed_one_by_one(even, uneven):
    assert even["fp32_thread_instructions"] == 64 * 32 * 9
    assert uneven["fp32_thread_instructions"] == 64 * 32 * 9  # outputs beyond the border are summed, and not stored


def test_each_output_is_stored_once_and_whole_sectors_at_once(even):
    assert even["l2_write_sectors"] == 64 * 32 * 4 / 32


def test_memory_instructions_are_those_of_loads_sums_and_stores(even):
    """A pixel of shared memory that both outputs of a thread need is loaded twice: they are 8 apart."""
    pixels, outputs = 4 * 8 * 18 * 6, 64 * 32
    assert even["memory_thread_instructions"] == 2 * pixels + 9 * outputs + outputs


@pytest.mark.parametrize("configuration", [EVEN, UNEVEN], ids=["even", "uneven"])
def test_some_blocks_stand_for_all(configuration):
    found, expected = counters(configuration), whole(configuration)
    for name, value in expected.items():
        # Where rows begin in a sector differs from block to block, with a period of 4 on either axis.
        assert found[name] == pytest.approx(value, rel=0.05 if name == "l2_read_sectors" else 1e-12), name


def test_samples_weigh_as_much_as_the_grid():
    for configuration in (EVEN, UNEVEN, *(each.configuration for each in measured())):
        across, down, _ = configuration.grid
        groups = list(configuration.samples())
        assert sum(weight for weight, _ in groups) == across * down
        numbers = [number for _, blocks in groups for number in blocks]
        assert len(set(numbers)) == len(numbers)
        (wide, high), last = configuration.tile, across * down - 1
        borders = (configuration.width % wide > 0) + (configuration.height % high > 0)
        assert (last in numbers) or borders != 2


def test_wrong_sums_are_reported(monkeypatch):
    compiled = CompiledConvolution(EVEN)
    compiled.trace([0, 5])
    image = np.ones((34, 66), np.float32)
    weights, output = np.ones(9, np.float32), np.full((32, 64), 9, np.float32)
    compiled._check([0, 5], image, weights, output)
    output[5, 17] = 8.9  # of block 5, in the second row of four
    with pytest.raises(StudyError, match="block 5 stores other sums"):
        compiled._check([0, 5], image, weights, output)


@pytest.mark.parametrize("row", SAMPLE)
def test_what_nsight_counted_on_a_gpu_is_counted_here(row):
    """Where the compiler made the same code of loops and sums, to the last instruction; else as far as said."""
    one = measured()[row]
    found, there = counters(one.configuration), one.counters
    for name in ("registers_per_thread", "shared_bytes", "fp32", "memory", "global_load_requests"):
        name = name if name in there else f"{name}_thread_instructions"
        assert found[name] == there[name], name
    assert found["warp_instructions"] == pytest.approx(there["warp_instructions"], rel=0.05)
    assert found["shared_load_wavefronts"] == pytest.approx(there["shared_load_wavefronts"], rel=0.002)
    assert found["shared_store_wavefronts"] == pytest.approx(there["shared_store_wavefronts"], rel=0.03)
    assert found["l2_read_sectors"] == pytest.approx(there["l2_read_sectors"], rel=0.03)
    assert found["l2_write_sectors"] == pytest.approx(there["l2_write_sectors"], rel=0.001)


def test_a_file_that_is_no_table_of_counters_is_refused(tmp_path):
    path = tmp_path / "c.csv"
    with pytest.raises(StudyError, match="no table of counters"):
        measured_counters(path)
    path.write_text("# c\nblock_size_x,block_size_y\n1,2\n")
    with pytest.raises(StudyError, match="no table of counters"):
        measured_counters(path)
