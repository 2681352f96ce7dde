"""Requests to a kernel's process and its replies: the structures of process_cpu.cuh, word for word."""

import ctypes

from simtmm.recorder.global_memory import MOST_ARRAYS
from simtmm.trace.runs.layout import THREAD_SHIFT
from simtmm.trace.schema import EVENT

MOST_ARGUMENTS = 32


class Fault(ctypes.Structure):
    """What went wrong within a kernel; `code` as in device_cpu.cuh."""

    _fields_ = (
        ("code", ctypes.c_int),
        ("site", ctypes.c_int),
        ("block", ctypes.c_longlong),
        ("thread", ctypes.c_longlong),
        ("array", ctypes.c_int),
        ("index", ctypes.c_longlong),
        ("count", ctypes.c_longlong),
    )


class Apart(ctypes.Structure):
    """Threads of a block that met no barrier together; `site` is -1 where there were none."""

    _fields_ = (
        ("site", ctypes.c_int),
        ("other_site", ctypes.c_int),
        ("block", ctypes.c_longlong),
        ("thread", ctypes.c_int),
        ("other", ctypes.c_int),
        ("passed", ctypes.c_int),
    )


class Command(ctypes.Structure):
    """Blocks to be run, of the launch that begins with it or began before; the fields as in process_cpu.cuh."""

    _fields_ = (
        ("kernel", ctypes.c_int),
        ("begins", ctypes.c_int),
        ("turn", ctypes.c_int),
        ("distances", ctypes.c_int),
        ("shape", ctypes.c_uint * 6),
        ("first", ctypes.c_longlong),
        ("last", ctypes.c_longlong),
        ("wanted", ctypes.c_ulonglong),
        ("most", ctypes.c_ulonglong),
        ("whole", ctypes.c_ulonglong),
        ("pointers", ctypes.c_ulonglong),
        ("arguments", ctypes.c_ubyte * 16 * MOST_ARGUMENTS),
    )


class Outcome(ctypes.Structure):
    """What came of a command: so many events of so many blocks, and of one that goes on with the next command.

    spared: how many more events blocks have that stand as distances from the block before.
    """

    _fields_ = (
        ("count", ctypes.c_ulonglong),
        ("spared", ctypes.c_ulonglong),
        ("blocks", ctypes.c_longlong),
        ("shared_bytes", ctypes.c_longlong),
        ("goes_on", ctypes.c_longlong),
        ("fault", Fault),
        ("ended_early", Apart),
        ("at_two_sites", Apart),
    )


class Seen(ctypes.Structure):
    """Where the kernel is, and what its launch has touched so far; read while it runs."""

    _fields_ = (
        ("first", ctypes.c_ulonglong),
        ("next", ctypes.c_ulonglong),
        ("spared", ctypes.c_ulonglong),
        ("block", ctypes.c_longlong),
        ("thread_word", ctypes.c_ulonglong),
        ("site", ctypes.c_uint),
        ("shared", ctypes.c_ubyte),
        ("loaded", ctypes.c_ubyte * MOST_ARRAYS),
        ("stored", ctypes.c_ubyte * MOST_ARRAYS),
        ("what", ctypes.c_ubyte * 500),
        ("looks", ctypes.c_uint),
        ("is_still", ctypes.c_ubyte),
        ("asking", ctypes.c_uint),
    )

    @property
    def recorded(self) -> int:
        """Events of the call so far that lie in its file."""
        return int((self.next - self.first) // EVENT.itemsize)

    @property
    def thread(self) -> int:
        """The one that runs."""
        return int(self.thread_word >> THREAD_SHIFT)
