"""Values in files between processes. Their arrays are mapped, not copied: workers share one workload's memory."""

import mmap
import pickle
from pathlib import Path
from typing import Any

ALIGNED = 64  # bytes: a cache line


def keep_value(value: Any, path: Path) -> None:
    """Write a value: what pickle makes of it, how long its arrays are, and these behind it."""
    arrays: list[pickle.PickleBuffer] = []
    words = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    lengths = [array.raw().nbytes for array in arrays]
    head = pickle.dumps((words, lengths))
    with path.open("wb") as file:
        file.write(len(head).to_bytes(8, "little"))
        file.write(head)
        for array in arrays:
            file.write(bytes(-file.tell() % ALIGNED))
            file.write(array.raw())


def kept_value(path: Path) -> Any:
    """Read a value that `keep_value` wrote. Its arrays stay in the file, which may be unlinked; writing to them changes
    nobody else's.
    """
    with path.open("rb") as file:
        # Of its own, and not read-only, for which Numba would compile everything again
        mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    at = 8 + int.from_bytes(mapped[:8], "little")
    words, lengths = pickle.loads(mapped[8:at])
    arrays = []
    for length in lengths:
        at += -at % ALIGNED
        arrays.append(mapped[at : at + length])
        at += length
    return pickle.loads(words, buffers=arrays)
