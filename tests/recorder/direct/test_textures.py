"""Texture and surface objects as arguments of kernels in CUDA C++."""

import numpy as np
import pytest

import simtmm
from simtmm.errors import KernelError, RecordingError
from tests.cuda.compilers.conftest import needs_nvrtc

pytestmark = needs_nvrtc

BLUR = """
extern "C" __global__ void blur(cudaTextureObject_t image, float* out, int width) {
    int x = threadIdx.x;
    out[blockIdx.x * width + x] = tex2D<float>(image, x + 1.0f, blockIdx.x + 0.5f);
}
"""
SHIFT = """
__global__ void shift(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    float2 pair = surf2Dread<float2>(from, threadIdx.x * 8, blockIdx.x);
    surf2Dwrite(pair, to, threadIdx.x * 8 - 8, blockIdx.x, cudaBoundaryModeZero);
}
"""
FETCH = """
__global__ void fetch(cudaTextureObject_t table, const int* places, unsigned char* out) {
    out[threadIdx.x] = tex1Dfetch<unsigned char>(table, places[threadIdx.x]);
}
"""


@pytest.fixture(scope="module")
def blur():
    return simtmm.RawKernel(BLUR, "blur")


def test_linear_filtering_lies_between_neighbours_of_rows_that_lie_apart(blur):
    image = np.random.default_rng(0).random((4, 40), dtype=np.float32)[:, 3:35]
    found = np.zeros((4, 32), np.float32)
    blur((4,), (32,), (simtmm.TextureObject(image, filter_mode="linear"), found, 32))
    beside = np.concatenate([image[:, 1:], image[:, -1:]], axis=1)
    assert np.array_equal(found, (image + beside) / 2)  # halves are exact, and the sum is rounded once in both


def test_surfaces_are_read_and_written_where_they_lie():
    given = np.random.default_rng(0).random((3, 8, 2), dtype=np.float32)
    found = np.zeros_like(given)
    shift = simtmm.RawModule(SHIFT, name_expressions=["shift"]).get_function("shift")
    shift((3,), (8,), (simtmm.SurfaceObject(given), simtmm.SurfaceObject(found)))
    assert np.array_equal(found[:, :-1], given[:, 1:])
    assert not found[:, -1].any()


def test_a_kernel_with_a_mangled_name_takes_textures_and_no_numbers():
    table, out = np.arange(10, 30, dtype=np.uint8), np.zeros(4, np.uint8)
    places = np.array([0, 19, 20, -1], np.int32)
    kernel = simtmm.RawModule(FETCH, name_expressions=["fetch"]).get_function("fetch")
    kernel((1,), (4,), (simtmm.TextureObject(table), places, out))
    assert out.tolist() == [10, 29, 0, 0]
    with pytest.raises(KernelError, match=r"table = 7: must be a simtmm.TextureObject \(cudaTextureObject_t\)"):
        kernel((1,), (4,), (7, places, out))


def test_a_texture_sees_what_an_earlier_launch_wrote(blur):
    image, found = np.zeros((1, 32), np.float32), np.zeros((1, 32), np.float32)
    texture = simtmm.TextureObject(image)
    source = 'extern "C" __global__ void fill(float* image) { image[threadIdx.x] = threadIdx.x; }'
    simtmm.RawKernel(source, "fill")((1,), (32,), (image,))
    blur((1,), (32,), (texture, found, 32))
    assert found[0].tolist() == [*range(1, 32), 31]


def test_texels_are_recorded_at_the_users_line_as_loads_of_the_array(blur):
    image, found = np.zeros((2, 32), np.float32), np.zeros((2, 32), np.float32)
    with simtmm.recording() as recording:
        blur((2,), (32,), (simtmm.TextureObject(image), found, 32))
    info = recording.trace.info
    assert [array.name for array in info.arrays] == ["image", "out"]
    (site,) = (site for site in info.sites if site.kind == "async")
    assert (site.line, "tex2D<float>" in site.source) == (4, True)
    assert site.instruction.startswith(("tex.2d", "TEX"))  # as machine code where there is a disassembler
    events = np.concatenate([batch.events for batch in recording.trace.batches()])
    reads = events[events["site"] == site.site]
    columns = np.minimum(np.arange(32) + 1, 31)
    expected = [info.arrays[0].base + 4 * (32 * row + column) for row in (0, 1) for column in columns]
    assert reads["value"].tolist() == expected
    assert set(reads["bytes"].tolist()) == {4}


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (np.zeros((2, 32), np.float32), "image = an array of float32: must be a simtmm.TextureObject"),
        (5, "image = 5: must be a simtmm.TextureObject (cudaTextureObject_t)"),
        (simtmm.SurfaceObject(np.zeros((2, 32), np.float32)), "image = a SurfaceObject: the kernel takes cudaTexture"),
    ],
)
def test_what_is_no_texture_is_refused_before_the_launch(blur, argument, said):
    with pytest.raises(KernelError) as reported:
        blur((2,), (32,), (argument, np.zeros((2, 32), np.float32), 32))
    assert said in str(reported.value)
    assert "\n" not in str(reported.value)


def test_a_texture_is_no_pointer(blur):
    texture = simtmm.TextureObject(np.zeros((2, 32), np.float32))
    with pytest.raises(KernelError, match=r"out = a TextureObject: the kernel takes float\*"):
        blur((2,), (32,), (texture, texture, 32))


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (simtmm.TextureObject(np.zeros(32, np.float32)), "the object is a texture of 1 dimensions"),
        (None, "handle 0x0 is not of a texture"),
    ],
)
def test_what_can_not_be_read_ends_the_launch_at_the_users_line(blur, argument, said):
    with pytest.raises(RecordingError, match=r"tex2D<float>.*block \(0, 0, 0\), thread \(0, 0, 0\)") as reported:
        blur((2,), (32,), (argument, np.zeros((2, 32), np.float32), 32))
    assert said in str(reported.value)


def test_a_surface_beyond_its_edge_is_reported_with_its_place():
    source = """extern "C" __global__ void beyond(cudaSurfaceObject_t s) {
        surf2Dwrite(1.0f, s, (int)threadIdx.x * 4, 3, cudaBoundaryModeTrap);
    }"""
    kernel = simtmm.RawKernel(source, "beyond")
    with pytest.raises(
        RecordingError, match=r"thread \(6, 0, 0\): writes 4 bytes of a surface at x = 24 \(bytes\), y = 3"
    ):
        kernel((1,), (32,), (simtmm.SurfaceObject(np.zeros((4, 6), np.float32)),))
