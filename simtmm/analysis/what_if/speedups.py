"""A changed machine or program simulated: how many times faster it is."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from simtmm.analysis.what_if.changes import MORE_WARPS, OF_MEMORY, SHARED_SERVICE, Change, faster_banks
from simtmm.analysis.what_if.stalls import restalled
from simtmm.engine.known_cycles import at_once, cycles_of
from simtmm.errors import SimtmmError
from simtmm.machine import Machine
from simtmm.parallel.threads import in_order
from simtmm.result import Result
from simtmm.trace.streamed import AnyWorkload
from simtmm.workload import Workload

_KEYS_OF_MEMORY = frozenset(key for keys in OF_MEMORY.values() for key in keys)
_Differs = tuple[frozenset[tuple[str, float | str]], bool, Callable[[Workload], Workload] | None, float, bool, bool]


class Speedups:
    """How much faster a run would be with changes, each of which is simulated once.

    What a run has shown to make no difference to it is not simulated.
    """

    def __init__(self, machine: Machine, workload: AnyWorkload, result: Result, whole: float | None = None) -> None:
        """machine, workload, result: what was simulated, and what came of it.

        whole: cycles of all of the workload, where the result is of less.
        """
        self._machine, self._workload, self._engine = machine, workload, result.engine
        self._before = result.cycles if whole is None else whole
        self._own = machine.values()
        self._unfelt = _KEYS_OF_MEMORY if whole is None and not result.reached_memory else frozenset()
        self._known: dict[_Differs, float | None] = {}

    def of_each(self, changes: Iterable[Change]) -> Iterator[tuple[Change, float | None]]:
        """Changes in their order, each with its speedup as `of` gives it; on all cores, where the engine lets others
        run.
        """
        yield from in_order(lambda change: (change, self.of(change)), changes, at_once(self._engine))

    def of(self, change: Change) -> float | None:
        """None where the machine or the program has nothing to be changed, or can't be so."""
        keys = {key: value for key, value in change.keys.items() if self._own.get(key) and key != SHARED_SERVICE}
        has_faster_banks = SHARED_SERVICE in change.keys and isinstance(self._workload, Workload)
        if not keys and change.of_workload is None and change.stalls == 1 and not has_faster_banks:
            return None
        felt = {key: value for key, value in keys.items() if key not in self._unfelt}
        more_warps = change.cause == MORE_WARPS
        differs = frozenset(felt.items()), bool(keys), change.of_workload, change.stalls, more_warps, has_faster_banks
        if differs not in self._known:
            cycles = self._cycles(change, felt, has_faster_banks, self._before if keys else None)
            self._known[differs] = self._before / cycles if cycles and self._before else None
        return self._known[differs]

    def _cycles(
        self, change: Change, keys: Mapping[str, float | str], has_faster_banks: bool, unchanged: float | None
    ) -> float | None:
        """How long it takes with other values of some keys; None where it can't be so. unchanged: with none of them."""
        if "cores.cores_per_group" in keys:
            keys = {**keys, "limits.warps_per_group": self._machine.warps_per_group}
        changed = self._workload
        if change.of_workload is not None and isinstance(changed, Workload):
            changed = change.of_workload(changed)
        if change.cause == MORE_WARPS:
            changed = changed.limited(2 * changed.launch_limits, changed.origin)
        try:
            # Ticks are halved, so that halves of durations are exact.
            other = self._machine.replace({**keys, "ticks_per_cycle": 2 * self._machine.ticks_per_cycle})
            if has_faster_banks and isinstance(changed, Workload):
                other, changed = faster_banks(other, changed)
            if isinstance(changed, Workload):
                changed = restalled(changed, self._machine, other, change.stalls)
            if not keys and changed is self._workload:
                return unchanged
            return cycles_of(other, changed, self._engine)
        except SimtmmError:
            return None
