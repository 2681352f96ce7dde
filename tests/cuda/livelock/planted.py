"""Kernels of planted.cu: what must be told of each."""

import struct
from functools import cache
from pathlib import Path

import numpy as np

from simtmm.cuda.compilers import compile_files
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule

SOURCE = Path(__file__).with_name("planted.cu")

# The word that threads go round for, and other words of the message
PLANTED = {
    "flag_that_nobody_sets": ("index 5 of a", "it is 0, and nothing in the kernel writes it", "126 threads have ended"),
    "counts_its_trips": ("index 7 of a", "it is 0, and nothing in the kernel writes it", "128 threads"),
    "flag_behind_a_barrier": ("byte 0 of flag", "it is 0, and no thread reaches", "32 threads (the first: 32) for a"),
    "lock_taken_twice": ("index 3 of a", "tries to update", "it is 1"),
    "lock_left_behind": ("index 2 of a", "tries to update", "it is 1"),
    "ticket_that_is_skipped": ("index 1 of a", "it is 2, and no thread reaches"),
    "grid_barrier_of_one_too_many": ("index 9 of a", "it is 2", "63 threads (the first: 1) for a barrier"),
    "grid_barrier_that_is_reset": ("index 0 of a", "it is 0", "no thread reaches"),
    "chain_in_a_circle": ("of a", "it is 0, and no thread reaches", "2 threads"),
    "look_back_without_an_end": ("index 0 of a", "it is 0, and no thread reaches"),
    "stores_what_is_there": ("index 20 of a", "it is 0, and nothing in the kernel writes it"),
    "updates_that_change_nothing": ("index 8 of a", "it is 0", "does not change it"),
    "two_locks_crosswise": ("of a", "it is 1", "2 threads"),
    "lane_that_waits_for_its_warp": ("byte 12 of flags", "it is 0", "31 threads (the first: 1) for others of its warp"),
    "barrier_over_and_over": ("byte 0 of done", "it is 0"),
    "loop_of_nothing": ("which does not depend on memory",),
    "array_in_local_memory": ("which does not depend on memory", "128 threads"),
    "calls_what_looks": ("index 13 of a", "it is 0, and nothing in the kernel writes it"),
    "waits_in_a_function": ("index 17 of a", "it is 0"),
    "mbarrier_without_enough_arrivals": ("byte 0 of barrier", "64 threads"),
    "mbarrier_whose_parity_stays": ("byte 0 of barrier", "32 threads"),
    "acquires_for_ever": ("index 33 of a", "it is 0"),
    "waits_for_a_byte": ("index 40 and 1 bytes of a", "it is 0"),
    "waits_for_eight_bytes": ("index 22 of a", "it is 0"),
    "warp_votes": ("of a, which has 64 elements (int32), and others", "it is 0"),
    "writer_that_left": ("index 50 of a", "it is 0, and no thread reaches"),
    "compares_with_another": ("index 25 of a", "it is 0"),
    "dynamic_shared_flag": ("byte 24 of", "it is 0"),
    "waits_after_long_work": ("index 0 of a", "it is 0, and nothing in the kernel writes it"),
}  # fmt: skip


@cache
def module() -> LinkedModule:
    """All of them, compiled."""
    return LinkedModule(compile_files(SOURCE, architecture=90))


def lines(name: str, mark: str) -> list[int]:
    """The lines of a kernel, and of the function before it, that have a mark."""
    text = SOURCE.read_text().splitlines()
    own = next(at for at, line in enumerate(text) if f" {name}(" in line)
    first = next((at + 1 for at in range(own - 1, -1, -1) if not text[at]), 0)
    last = next((at for at in range(own, len(text)) if not text[at]), len(text))
    return [at + 1 for at in range(first, last) if f"// {mark}" in text[at]]


def run(function: KernelFunction, record: bool = False, seconds: float = 300) -> None:
    """Launch one. Raises what `Device.run` raises."""
    device = Device()
    device.symbols(function.linked)
    a, b = (device.memory.place(name, np.zeros(64, np.int32)) for name in "ab")
    dynamic = 256 if "dynamic" in function.entry else 0
    launch = DeviceLaunch((2, 1, 1), (64, 1, 1), struct.pack("<QQ", a, b), dynamic)
    for _ in device.run(function, launch, record, seconds=seconds):
        pass
