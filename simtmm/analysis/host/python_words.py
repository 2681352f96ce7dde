"""What a change of the host's code is called in Python: words of changes name the runtime's functions of C."""

_IN_PYTHON = (
    ("cudaMallocHost instead of malloc or new", "cuda.pinned_array in Numba, cupyx.empty_pinned in CuPy"),
    (
        "leave data on the device that go",
        "leave data on the device (cuda.to_device or cupy.asarray once, and those arrays as arguments) that go",
    ),
    ("cudaMemcpyAsync of pinned memory, and", "copies of pinned arrays on a stream, and"),
    (
        "calls of cudaMalloc and cudaFree take tens of microseconds each, and cudaFree waits for the device "
        "(cudaMallocAsync takes from a pool)",
        "allocations take tens of microseconds each, and freeing memory waits for the device",
    ),
    ("allocate once before the loop", "allocate once before the loop (cuda.device_array)"),
    (
        "by a graph (cudaStreamBeginCapture, cudaGraphLaunch), or fuse them",
        "by a graph (cupy.cuda.Stream.begin_capture, torch.cuda.graph), or fuse them",
    ),
)


def of_place(words: str, place: str) -> str:
    """The words of a change, for where it is made.

    place: its file and line.
    """
    if place.rpartition(":")[0].endswith(".py"):
        for in_c, in_python in _IN_PYTHON:
            words = words.replace(in_c, in_python)
    return words
