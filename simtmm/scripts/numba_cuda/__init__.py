"""Numba CUDA: `@cuda.jit` kernels compiled by numba-cuda, launched on a device that is not there."""

from contextlib import AbstractContextManager


class NumbaAdapter:
    """See simtmm.scripts.framework."""

    name = "Numba CUDA"
    modules = ("numba.cuda",)
    stands_in = False

    def installed(self) -> AbstractContextManager[None]:
        """The block within which numba-cuda's launches are ours. Raises KernelError for a version that is not known."""
        from simtmm.scripts.numba_cuda.adapter import installed

        return installed()


ADAPTER = NumbaAdapter()
