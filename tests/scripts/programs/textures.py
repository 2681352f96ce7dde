"""A texture that is read between its texels, and a surface that is written."""

import cupy as cp
import numpy as np
from cupy.cuda import runtime, texture

CODE = r"""
extern "C" __global__ void magnify(float* out, cudaTextureObject_t image, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = tex2D<float>(image, x / 2.0f + 0.5f, y / 2.0f + 0.5f);
}
extern "C" __global__ void fill(cudaSurfaceObject_t surface) {
  surf2Dwrite<float>(threadIdx.x + 10 * blockIdx.x, surface, threadIdx.x * sizeof(float), blockIdx.x);
}
"""
module = cp.RawModule(code=CODE)
floats = texture.ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)
image = np.random.default_rng(0).random((6, 8), dtype=np.float32)
memory = texture.CUDAarray(floats, 8, 6)
memory.copy_from(cp.asarray(image))
described = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=memory)
how = texture.TextureDescriptor((runtime.cudaAddressModeClamp,) * 2, runtime.cudaFilterModeLinear,
                                runtime.cudaReadModeElementType)  # fmt: skip
out = cp.zeros((12, 16), cp.float32)
module.get_function("magnify")((1, 1), (16, 16), (out, texture.TextureObject(described, how), 16, 12))
np.testing.assert_allclose(out.get()[::2, ::2], image, rtol=1e-6)
np.testing.assert_allclose(out.get()[0, 1:15:2], (image[0, 1:] + image[0, :-1]) / 2, rtol=1e-2)

target = texture.CUDAarray(floats, 8, 6, 0, runtime.cudaArraySurfaceLoadStore)
surface = texture.SurfaceObject(texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=target))
module.get_function("fill")((6,), (8,), (surface,))
found = cp.empty((6, 8), cp.float32)
target.copy_to(found)
np.testing.assert_array_equal(found.get(), np.arange(8) + 10 * np.arange(6)[:, None])
