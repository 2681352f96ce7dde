"""Places in a program: where operations come from, and what threads did there."""

from collections.abc import Container
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]

LOADS = ("load", "async", "local_load")  # kinds of places, of traces and of workloads, that look into caches
STORES = ("store", "local_store")
ATOMICS = ("atomic", "reduce")
WORK, JOIN, BARRIER = "work", "join", "barrier"

THREADS = ("executions", "threads", "bytes_asked", "times")
"""Columns of what threads did at a place: how often threads of a warp did it together, how many threads in all, the
bytes that these requested, and how often threads did it, where work of n operations is done n times."""

CLASSES = ("fp32", "fp64", "fp16", "integer", "special", "tensor", "multiply")
"""Of instructions that compute, of WORK_CLASSES: those for which a machine may have pipes, a workload operations."""
FLOATING_POINT = ("fp16", "fp32", "fp64")  # classes of instructions (WORK_CLASSES)
THREAD_INSTRUCTIONS = ("thread_instructions", "floating_point_instructions")
OF_LAUNCHES = ("executions", "threads", "bytes_asked", *THREAD_INSTRUCTIONS)


def class_among(name: str, known: Container[str]) -> str:
    """The class that instructions of a class count in, where some are known: products of integers in the integers'.

    name: the class of an instruction, one of CLASSES.
    known: the classes that are known.
    """
    return "integer" if name == "multiply" and name not in known else name


@dataclass(frozen=True)
class Place:
    """A place in a program.

    kind: what happens there: a kind of event, or an operation of a workload.
    file, line, source: of the line, "" and 0 if unknown.
    function: the kernel or function that it belongs to, "" if unknown.
    instruction: the compiled instruction, "" if unknown.
    work: (class, instructions) that a thread issues before what happens there, each time.
    computed: file, line and source of most of the work, where that is another line.
    """

    kind: str
    file: str = ""
    line: int = 0
    source: str = ""
    function: str = ""
    instruction: str = ""
    work: tuple[tuple[str, int], ...] = ()
    computed: tuple[str, int, str] | None = None

    @property
    def thread_instructions(self) -> int:
        """Instructions of a thread each time that it does what happens there: an access is one beside its work."""
        own = sum(number for _, number in self.work)
        if self.kind == WORK:
            return own or 1
        return own + (self.kind not in (JOIN, BARRIER))

    @property
    def floating_point_instructions(self) -> int:
        """Of these, floating-point ones; a multiply-add is one."""
        return sum(number for name, number in self.work if name in FLOATING_POINT)


@dataclass(frozen=True, eq=False)
class Places:
    """The places that a workload's operations come from. An operation has one number: place * len(arrays) + array.

    sites: the places, by number. arrays: what is accessed, by number: the first is "", for what is no access.
    threads: int64[sites * arrays, THREADS]: what threads did there; None where only a workload is known.
    launches: int64[launches, OF_LAUNCHES]: the same of each launch; None where that is not known.
    """

    sites: tuple[Place, ...]
    arrays: tuple[str, ...] = ("",)
    threads: Integers | None = None
    launches: Integers | None = None

    def __len__(self) -> int:
        return len(self.sites) * len(self.arrays)

    def place(self, number: int) -> tuple[Place, str]:
        """The place, and the array that is accessed there; of work, the line that most of it is of.

        number: of a place, from 0 on.
        """
        number, array = divmod(number, len(self.arrays))
        site = self.sites[number]
        if site.computed is not None and not array and self._is_work(number):
            file, line, source = site.computed
            site = replace(site, file=file, line=line, source=source)
        return site, self.arrays[array]

    def work(self, site: int) -> Place:
        """The place of what is computed at a site.

        site: its number.
        """
        return self.place(site * len(self.arrays))[0]

    def _is_work(self, site: int) -> bool:
        """Whether what a site does without an array is computed for its access, or is all that it is: no access."""
        kind = self.sites[site].kind
        if kind == WORK:
            return True
        known = None if self.threads is None else self.threads[site * len(self.arrays), THREADS.index("executions")]
        return kind in (*LOADS, *STORES, *ATOMICS) and not known

    def are_of(self, kinds: tuple[str, ...]) -> npt.NDArray[np.bool_]:
        """Of each number, whether its place is of one of some kinds.

        kinds: words of operations, as "load".
        """
        if kinds not in self._by_kinds:
            here = np.repeat(np.array([site.kind in kinds for site in self.sites], bool), len(self.arrays))
            here.flags.writeable = False
            self._by_kinds[kinds] = here
        return self._by_kinds[kinds]

    @cached_property
    def _by_kinds(self) -> dict[tuple[str, ...], npt.NDArray[np.bool_]]:
        return {}  # of `are_of`, which is asked at each launch
