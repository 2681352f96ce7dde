"""Triton: `@triton.jit` kernels compiled by Triton, launched on a device that is not there."""

from contextlib import AbstractContextManager


class TritonAdapter:
    """See simtmm.scripts.framework."""

    name = "Triton"
    modules = ("triton",)
    stands_in = False

    def installed(self) -> AbstractContextManager[None]:
        """The block within which Triton's launches are ours. Raises KernelError for a version that is not known."""
        from simtmm.scripts.triton.adapter import installed

        return installed()


ADAPTER = TritonAdapter()
