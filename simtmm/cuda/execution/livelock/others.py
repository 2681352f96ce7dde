"""What may write memory while a kernel runs, besides its own threads: the host where it can, and other streams.

Nobody is accused of waiting for them, though kernels run one after another here.
"""

import weakref

_ranges: dict[int, int] = {}  # of addresses in this process: first and end
_streams: "weakref.WeakSet[object]" = weakref.WeakSet()


def host_may_write(address: int, size: int) -> None:
    """Note that memory at an address of this process is pinned, mapped or managed.

    address: of its first byte.
    size: bytes.
    """
    _ranges[address] = address + size


def host_lets_go(address: int) -> None:
    """Note that memory at an address was freed.

    address: of this process.
    """
    _ranges.pop(address, None)


def has_stream(stream: object) -> None:
    """Note that there is a stream besides the default one, as long as the object lives.

    stream: an object that lives as long as it.
    """
    _streams.add(stream)


def other_streams() -> bool:
    """Whether there are streams besides the default one."""
    return bool(_streams)


def is_written_by_host(low: int, end: int) -> bool:
    """Whether the host may write at some of these addresses of this process."""
    return any(first < end and low < last for first, last in list(_ranges.items()))
