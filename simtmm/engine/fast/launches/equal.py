"""Launches that do what one before them did, and find what it found: they take as long, and leave what it left.

What a launch comes to follows from its operations and from what lies in the sets of the L2 that its chunks belong to.
Where both are as they were at an earlier launch of the run, that one's numbers are taken and those sets written anew.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from simtmm.engine.fast.attribution.stall_table import Booked
from simtmm.engine.fast.launches.reused import Reused
from simtmm.engine.fast.launches.tables import Integers
from simtmm.engine.fast.memory.cache import mix
from simtmm.machine import Machine
from simtmm.workload import Workload
from simtmm.workload.alike import chunks_of

MOST_HELD = 1 << 28  # bytes of what launches left in the L2, of all of them together
OF_ONE = 4  # states found by launches that do the same, the latest: two kernels in turn find two


@dataclass(frozen=True)
class Outcome:
    """What came of a launch.

    ticks: of the launch alone. group: int64[len(Group)], the sums of what its groups counted. booked: what it added to
    where warps' ticks went; None where nobody asks. begun: int64[blocks], the tick at which each block was placed.
    """

    ticks: int
    group: Integers
    booked: Integers | None
    begun: Integers | None


@dataclass(frozen=True)
class _Left:
    """An outcome, and the sets of the L2 behind it."""

    outcome: Outcome
    lines: Integers
    sectors: Integers

    @cached_property
    def state(self) -> bytes:
        """A digest of these sets, as a launch that comes next finds them."""
        return _digest(self.lines, self.sectors)


@dataclass(frozen=True)
class _Kind:
    """Launches that do the same.

    rows: int64[...], the sets of the L2 that their chunks belong to. left: what they came to, by the digest of what
    they found in those sets.
    """

    rows: Integers
    left: dict[bytes, _Left] = field(default_factory=dict)


class EqualLaunches:
    """What is known of the launches of a run so far."""

    def __init__(self, machine: Machine, workload: Workload, reused: Reused, booked: Booked | None) -> None:
        l2 = machine.memory.l2
        self._workload, self._reused, self._booked = workload, reused, booked
        self._keeps = reused.keeps
        # What falls out of the L2 goes to any set of a last-level cache, which launches find as others left it
        # and so do lines that other dies have
        apart = machine.memory.last_level is not None or (l2 is not None and l2.dies > 1)
        self._is_known = not (self._keeps and apart)
        self._first_is_like_others = machine.memory.translations == "launch" or not machine.memory.first_access
        self._sets = np.uint64(l2.own_sets if l2 is not None else 1)
        self._parts = l2.parts if l2 is not None else 1
        self._hashed = l2 is not None and l2.index == "hash"
        clusters = [workload.cluster_of(launch) for launch in range(workload.launches)]
        self._does = list(zip(workload.launch_limits.tolist(), workload.kinds.tolist(), clusters, strict=True))
        self._recurring = {does for does, count in Counter(self._does).items() if count > 1}
        self._kinds: dict[tuple[int, int, int], _Kind] = {}
        self._held = 0
        self._asked: tuple[_Kind, bytes] | None = None
        self._last: tuple[_Kind, _Left] | None = None
        self._before: Integers | None = None

    def outcome(self, launch: int) -> Outcome | None:
        """What a launch comes to that is to begin; None where it is to be simulated, and given to `add` then."""
        last, self._asked, self._last = self._last, None, None
        recurs = self._is_known and self._does[launch] in self._recurring
        if not recurs or (launch == 0 and not self._first_is_like_others):
            return None
        kind = self._kind_of(launch)
        after_its_own_kind = last is not None and last[0] is kind  # nothing else has touched these sets
        found = last[1].state if last and after_its_own_kind else self._found(kind)
        left = kind.left.get(found)
        if left is None:
            self._asked = kind, found
            self._before = None if self._booked is None else self._booked.table.sum(axis=0)
            return None
        if self._keeps and not (after_its_own_kind and left.state == found):
            self._reused.put_into_l2(kind.rows, left.lines, left.sectors)
        if self._booked is not None:
            assert left.outcome.booked is not None
            self._booked.table[0] += left.outcome.booked
        self._last = kind, left
        return left.outcome

    def add(self, ticks: int, group: Integers, begun: Integers | None) -> None:
        """What came of the launch that was asked for last."""
        if self._asked is None:
            return
        kind, found = self._asked
        lines, sectors = self._taken(kind)
        if self._held + lines.nbytes + sectors.nbytes > MOST_HELD:
            return
        booked = None
        if self._booked is not None:
            assert self._before is not None
            booked = self._booked.table.sum(axis=0) - self._before
        outcome = Outcome(ticks, group, booked, None if begun is None else begun.copy())
        kind.left[found] = _Left(outcome, lines, sectors)
        self._last = kind, kind.left[found]
        self._held += lines.nbytes + sectors.nbytes
        if len(kind.left) > OF_ONE:
            oldest = kind.left.pop(next(iter(kind.left)))
            self._held -= oldest.lines.nbytes + oldest.sectors.nbytes

    def _kind_of(self, launch: int) -> _Kind:
        """What is known of the launches that do what a launch does."""
        does = self._does[launch]
        kind = self._kinds.get(does)
        if kind is None:
            chunks = chunks_of(self._workload, launch).astype(np.uint64) if self._keeps else np.empty(0, np.uint64)
            spread: npt.NDArray[np.uint64] = mix(chunks) if self._hashed else chunks
            sets = np.unique(spread % self._sets).astype(np.int64)
            parts = np.arange(self._parts, dtype=np.int64)[:, np.newaxis] * np.int64(self._sets)
            kind = self._kinds[does] = _Kind((parts + sets).reshape(-1))
        return kind

    def _taken(self, kind: _Kind) -> tuple[Integers, Integers]:
        """What lies in the L2 of the chunks of a launch, where it stays there from launch to launch."""
        nothing = np.empty(0, np.int64)
        return self._reused.taken_from_l2(kind.rows) if self._keeps else (nothing, nothing)

    def _found(self, kind: _Kind) -> bytes:
        """A digest of what a launch that is to begin finds in the L2, where anything lies there."""
        return _digest(*self._taken(kind))


def _digest(lines: Integers, sectors: Integers) -> bytes:
    digest = hashlib.blake2b(lines.tobytes(), digest_size=20)
    digest.update(sectors.tobytes())
    return digest.digest()
