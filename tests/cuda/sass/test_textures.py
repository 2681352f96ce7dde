"""Textures and surfaces as machine code: each access does what its PTX does, on every architecture, in every shape."""

import struct

import numpy as np
import pytest

from simtmm.cuda.compilers import compile_source
from simtmm.cuda.compilers.wheels import find_tool
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.execution.layout import TEXTURE_HANDLE
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.machine_function import machine_function
from simtmm.cuda.texture import SurfaceObject, TextureObject
from tests.cuda.compilers.conftest import needs

needs_tools = needs(lambda: find_tool("ptxas"), lambda: find_tool("nvdisasm"))
THREADS, NUMBERS = 64, 16
ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)
VOLUME = np.random.default_rng(1).random((3, 5, 7, 4), np.float32)
BYTES = np.random.default_rng(2).integers(0, 256, (3, 5, 7, 4), np.uint8)

TEXTURES = {
    "line": TextureObject(VOLUME[0, 0].copy(), dimensions=1, filter_mode="linear"),
    "lines": TextureObject(VOLUME[0].copy(), dimensions=1, layered=True),
    "flat": TextureObject(VOLUME[1].copy(), filter_mode="linear", address_mode="border", border_color=[1, 2, 3, 4]),
    "flat2": TextureObject(VOLUME[2].copy(), normalized_coords=True, address_mode="mirror"),
    "layers": TextureObject(VOLUME, layered=True),
    "volume": TextureObject(VOLUME, dimensions=3, filter_mode="linear"),
    "bytes": TextureObject(BYTES[0], read_mode="normalized_float"),
    "wholes": TextureObject(BYTES[1]),
    "whole_volume": TextureObject(BYTES, dimensions=3),
    "whole_layers": TextureObject(BYTES, layered=True),
    "memory": TextureObject(np.arange(40, dtype=np.int32)),
}

SURFACES = {
    "words": SurfaceObject(np.random.default_rng(3).integers(0, 2**32, (4, 64), np.uint32)),
    "row": SurfaceObject(np.arange(100, dtype=np.uint32), dimensions=1),
    "slices": SurfaceObject(np.arange(3 * 4 * 32, dtype=np.uint32).reshape(3, 4, 32), dimensions=3),
    "sheets": SurfaceObject(np.arange(3 * 4 * 32, dtype=np.uint32).reshape(3, 4, 32), layered=True),
    "strips": SurfaceObject(np.arange(3 * 64, dtype=np.uint32).reshape(3, 64), dimensions=1, layered=True),
}

# What a thread does with a surface, `v` being what it loads or stores.
ACCESSES = {
    "uint v; surf1Dread(&v, t, 4 * i)": "row",
    "uint v; surf2Dread(&v, t, 4 * i, j % 4)": "words",
    "uint2 v; surf2Dread(&v, t, 8 * i, j, cudaBoundaryModeClamp)": "words",
    "uint4 v; surf2Dread(&v, t, 16 * i - 32, j, cudaBoundaryModeZero)": "words",
    "uchar4 v; surf2Dread(&v, t, 4 * i, j % 4)": "words",
    "unsigned char v; surf2Dread(&v, t, i, j % 4)": "words",
    "ushort v; surf2Dread(&v, t, 2 * i, j % 4)": "words",
    "ushort2 v; surf2Dread(&v, t, 4 * i, j % 4)": "words",
    "signed char v; surf2Dread(&v, t, 4 * i + 1, j % 4)": "words",
    "uint v; surf3Dread(&v, t, 4 * i, j, k, cudaBoundaryModeClamp)": "slices",
    "uint v; surf2DLayeredread(&v, t, 4 * i, j, k, cudaBoundaryModeZero)": "sheets",
    "uint v; surf1DLayeredread(&v, t, 4 * i, k)": "strips",
    "uint v; surf2Dread(&v, all[11 + i / 32 * 0], 4 * i, j % 4)": "words",
    "uint v = i * 77; surf1Dwrite(v, t, 4 * i)": "row",
    "uint2 v = {i * 3u, i * 5u}; surf2Dwrite(v, t, 8 * (i % 32), i / 32)": "words",
    "uint4 v = {i * 3u, i * 5u, 1, 2}; surf2Dwrite(v, t, 16 * (i % 16), i / 16)": "words",
    "unsigned char v = i; surf2Dwrite(v, t, i, j % 4)": "words",
    "ushort v = 3 * i; surf2Dwrite(v, t, 2 * i, i % 4, cudaBoundaryModeZero)": "words",
    "uint v = i; surf3Dwrite(v, t, 4 * (i % 32), 1 + i / 32, 2)": "slices",
    "uint v = i; surf2DLayeredwrite(v, t, 4 * (i % 32), i / 32, 1)": "sheets",
    "uint v = i; surf1DLayeredwrite(v, t, 4 * i, 2)": "strips",
    "uint v = i; if (i % 3) surf2Dwrite(v, all[11], 4 * i, 3)": "words",
}  # fmt: skip

# What a thread reads: at x, y, z, in layer n, as whole numbers i, j, k; `t` is a texture, `all` are all of them.
FETCHES = {
    "tex1D<float4>(t, x)": "line",
    "tex1DLayered<float4>(t, x, n)": "lines",
    "tex2D<float4>(t, x, y)": "flat",
    "tex2D<float2>(t, x * .1f, y * .1f)": "flat2",
    "tex2D<float>(t, x, y)": "flat",
    "tex2D<float4>(t, 2.5f, y)": "bytes",
    "tex2DLod<float4>(t, x, y, z)": "flat",
    "tex2DLayered<float4>(t, x, y, n)": "layers",
    "tex3D<float4>(t, x, y, z)": "volume",
    "tex2Dgather<float4>(t, x, y, 0)": "flat",
    "tex2Dgather<float4>(t, x, y, 3)": "flat2",
    "tex2Dgather<float4>(t, x, y, 1)": "bytes",
    "tex1Dfetch<int>(t, i - 3)": "memory",
    "whole2(t, i % 7, j)": "wholes",
    "whole3(t, i % 7, j, k)": "whole_volume",
    "whole_layer(t, i % 7, j, k - 1)": "whole_layers",
    "tex2D<float4>(all[i / 32 + 2], x, y)": "flat",
    "tex2D<float4>(all[2 + i % 2], x, y)": "flat",
    "tex3D<float4>(all[5], x, y, z)": "volume",
    "tex2DLayered<float4>(all[4], x, y, n)": "layers",
    "tex2Dgather<float4>(all[2], x, y, 2)": "flat",
    "tex2Dgather<float4>(all[2], x, y, 0)": "flat",
    "tex1D<float>(all[0], x)": "line",
    "tex1Dfetch<int>(all[10], i)": "memory",
    "yw(tex2D<float4>(t, x, y))": "flat",
    "xzw(tex2D<float4>(t, x, y))": "flat",
    "i % 3 ? tex2D<float>(t, x, y) : tex2D<float4>(t, y, x).z": "flat",
}  # fmt: skip

SOURCE = """
typedef unsigned uint; typedef unsigned short ushort;
#define WHOLES(name, shape, place) \\
  __device__ uint4 name(cudaTextureObject_t t, int x, int y, int z = 0) { uint4 v; \\
    asm("tex." shape ".v4.u32.s32 {%0,%1,%2,%3}, [%4, " place "];" \\
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(t), "r"(x), "r"(y), "r"(z)); return v; }
WHOLES(whole2, "2d", "{%5,%6}")
WHOLES(whole3, "3d", "{%5,%6,%7,%7}")
WHOLES(whole_layer, "a2d", "{%7,%5,%6,%6}")
__device__ float2 yw(float4 v) { return make_float2(v.y, v.w); }
__device__ float3 xzw(float4 v) { return make_float3(v.x, v.z, v.w); }
"""
UPDATE = """
extern "C" __global__ void k%d(cudaSurfaceObject_t t, const cudaSurfaceObject_t* all, char* out) {
  unsigned i = threadIdx.x; int j = i %% 5, k = i / 5 %% 3;
  %s;
  *(decltype(v)*)(out + 16 * i) = v;
}
"""
KERNEL = """
extern "C" __global__ void k%d(cudaTextureObject_t t, const cudaTextureObject_t* all, char* out) {
  int i = threadIdx.x, j = i %% 5, k = i / 5 %% 3, n = i %% 6 - 1;
  float x = i * .37f - 3, y = i * .19f - 2, z = i * .11f - 1;
  auto found = %s;
  *(decltype(found)*)(out + 16 * i) = found;
}
"""


OBJECTS = {**TEXTURES, **SURFACES}


def _run(function, name):
    """What all threads of a kernel read, and what it leaves in the surfaces."""
    device, found = Device(), np.zeros((THREADS, NUMBERS), np.uint8)
    before = {key: each.array.copy() for key, each in SURFACES.items()}
    rows = b"".join(each.row(device.memory.place(key, each.array)) for key, each in OBJECTS.items())
    handles = TEXTURE_HANDLE + np.arange(len(OBJECTS), dtype=np.uint64)
    given = (
        TEXTURE_HANDLE + list(OBJECTS).index(name),
        device.memory.place("all", handles),
        device.memory.place("found", found),
    )
    device.launch(function, DeviceLaunch((1, 1, 1), (THREADS, 1, 1), struct.pack("<3Q", *given), textures=rows))
    left = {key: each.array.copy() for key, each in SURFACES.items()}
    for key, each in SURFACES.items():
        each.array[...] = before[key]
    return found, left, any(not np.array_equal(before[key], left[key]) for key in left)


@needs_tools
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize(
    ("template", "accesses"), [(KERNEL, FETCHES), (UPDATE, ACCESSES)], ids=["textures", "surfaces"]
)
def test_machine_code_does_what_ptx_does(template, accesses, architecture):
    kernels = "".join(template % (number, access) for number, access in enumerate(accesses))
    linked = LinkedModule([compile_source(SOURCE + kernels, architecture=architecture)])
    for number, (access, name) in enumerate(accesses.items()):
        plain = KernelFunction(linked, f"k{number}")
        machine, why = machine_function(plain)
        assert machine is not None, f"{access}: {why}"
        expected, left, has_written = _run(plain.quick, name)
        assert len(np.unique(expected, axis=0)) > 4, access
        assert has_written == ("write" in access)
        found, left_by_machine, _ = _run(machine.quick, name)
        assert np.array_equal(found, expected), access
        assert all(np.array_equal(left[key], left_by_machine[key]) for key in left), access
