"""Launches that do what one before them did, and find what it found: they take as long, and leave what it left.

What a launch comes to follows from its operations and from what lies in the sets of the L2 that its chunks belong to.
Where both are as they were at an earlier launch of the run, that one's numbers are taken and those sets written anew.
"""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from simtmm.engine.fast.attribution.stall_table import Booked
from simtmm.engine.fast.launches.reused import Reused
from simtmm.engine.fast.launches.tables import Integers
from simtmm.machine import Machine
from simtmm.workload import Workload

MOST_HELD = 1 << 28  # bytes of what launches left in the L2, of all of them together
OF_ONE = 4  # states found by launches that do the same, the latest: two kernels in turn find two
CHUNKS = -2  # where they are among the parts of what a launch does
OF_A_SHAPE = 8  # kinds of launches with as many warps and operations, which are compared with one another


@dataclass(frozen=True)
class Outcome:
    """What came of a launch.

    ticks: of the launch alone. group: int64[GROUP_ROW], the sums of what its groups counted. booked: what it added to
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


@dataclass(frozen=True)
class _Kind:
    """Launches that do the same. parts: what they do. sets: of the L2. left: what they came to, by what they found in
    those sets of the L2 that their chunks belong to.
    """

    parts: list[Integers]
    sets: int
    left: dict[bytes, _Left] = field(default_factory=dict)

    @cached_property
    def rows(self) -> Integers:
        """int64[...]: those sets."""
        return np.unique(self.parts[CHUNKS].astype(np.uint64) % np.uint64(self.sets)).astype(np.int64)


class EqualLaunches:
    """What is known of the launches of a run so far."""

    def __init__(self, machine: Machine, workload: Workload, reused: Reused, booked: Booked | None) -> None:
        l2 = machine.memory.l2
        self._workload, self._reused, self._booked = workload, reused, booked
        self._keeps = reused.keeps
        self._sets = l2.used_sets if l2 is not None else 1
        self._kinds: dict[tuple[int, ...], list[_Kind]] = {}
        self._held = 0
        self._asked: tuple[_Kind, bytes] | None = None
        self._before: Integers | None = None

    def outcome(self, launch: int) -> Outcome | None:
        """What a launch comes to that is to begin; None where it is to be simulated, and given to `add` then."""
        self._asked = None
        kind, is_new = self._kind_of(launch)
        if kind is None or is_new:  # most do not come again
            return None
        found = self._found(kind)
        left = kind.left.get(found)
        if left is None:
            self._asked = kind, found
            self._before = None if self._booked is None else self._booked.table.sum(axis=0)
            return None
        if self._keeps:
            self._reused.put_into_l2(kind.rows, left.lines, left.sectors)
        if self._booked is not None:
            assert left.outcome.booked is not None
            self._booked.table[0] += left.outcome.booked
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
        self._held += lines.nbytes + sectors.nbytes
        if len(kind.left) > OF_ONE:
            oldest = kind.left.pop(next(iter(kind.left)))
            self._held -= oldest.lines.nbytes + oldest.sectors.nbytes

    def _kind_of(self, launch: int) -> tuple[_Kind | None, bool]:
        """What a launch is one of, None where too many are known that look like it; whether it is the first."""
        own = self._parts(launch)
        alike = self._kinds.setdefault((int(self._workload.launch_limits[launch]), *map(len, own)), [])
        for kind in alike:
            if all(map(np.array_equal, own, kind.parts)):
                return kind, False
        if len(alike) == OF_A_SHAPE:
            return None, True
        alike.append(_Kind(own, self._sets))
        return alike[-1], True

    def _parts(self, launch: int) -> list[Integers]:
        """All that decides what a launch does, but for what lies in the L2."""
        own = self._workload
        warps = slice(*own.block_warps[own.launch_blocks[launch : launch + 2]].tolist())
        blocks = slice(*own.launch_blocks[launch : launch + 2].tolist())
        operations = slice(*own.warp_operations[[warps.start, warps.stop]].tolist())
        chunks = slice(*own.warp_chunks[[warps.start, warps.stop]].tolist())
        ends = [
            of[part.start : part.stop + 1] - of[part.start]
            for of, part in ((own.warp_operations, warps), (own.warp_chunks, warps), (own.block_warps, blocks))
        ]
        return [
            *ends, own.kind[operations], own.amount[operations], own.place[operations], own.chunks[chunks],
            own.sectors[chunks],
        ]  # fmt: skip

    def _taken(self, kind: _Kind) -> tuple[Integers, Integers]:
        """What lies in the L2 of the chunks of a launch, where it stays there from launch to launch."""
        nothing = np.empty(0, np.int64)
        return self._reused.taken_from_l2(kind.rows) if self._keeps else (nothing, nothing)

    def _found(self, kind: _Kind) -> bytes:
        """What a launch that is to begin finds in the L2, where anything lies there."""
        if not self._keeps:
            return b""
        digest = hashlib.blake2b(digest_size=20)
        for part in self._taken(kind):
            digest.update(part.tobytes())
        return digest.digest()
