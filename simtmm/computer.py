"""The computer that simtmm runs on."""

import contextlib
import os
from pathlib import Path

NO_LIMIT = 1 << 62


def cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def available_memory() -> int:
    """Bytes this process may still take: of the machine, of its control group, of its own limit."""
    most = [_of_machine()]
    group = Path("/sys/fs/cgroup")
    most.append(_number(group / "memory.max") - _number(group / "memory.current", 0))
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            most.append(limit - pages * os.sysconf("SC_PAGE_SIZE"))
    except (ImportError, OSError, ValueError):
        pass  # no such limit here
    return max(0, min(most))


def memory() -> int:
    """Bytes that a process here may ever take, however much of them is taken: the same for all processes alike."""
    most = [_of_machine("MemTotal:"), _number(Path("/sys/fs/cgroup/memory.max"))]
    with contextlib.suppress(ImportError, OSError, ValueError):  # no such limit here
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        most += [limit] if limit != resource.RLIM_INFINITY else []
    return min(most)


def address_space() -> int:
    """Bytes of addresses that a process may have, as `ulimit -v` says."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # no such limit here
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        return NO_LIMIT if limit == resource.RLIM_INFINITY else limit
    return NO_LIMIT


def limit_told(needed: int) -> str:
    """Why so many bytes of addresses can't be had, and what to do; empty where they can.

    needed: bytes.
    """
    most = address_space()
    if most >= needed:
        return ""
    return (
        f"out of memory: needs {needed >> 20:,} MiB of addresses, but a limit leaves {most >> 20:,} "
        "(ulimit -v): raise the limit"
    )


def _of_machine(line_of: str = "MemAvailable:") -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith(line_of):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass  # not Linux
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return NO_LIMIT


def _number(path: Path, otherwise: int = NO_LIMIT) -> int:
    """The number in a file; `max`, or no such file, is no limit."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return otherwise
