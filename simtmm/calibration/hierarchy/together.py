"""All measurements of a GPU fitted together, from the machine given and from others: the best of these, never a worse.

A fit begins with the machine given. Where streams are not met well then, another begins where rounds of blocks and the
largest bandwidths lead by themselves. What is found counts only where it is nearer to the measurements than the machine
given, also on rows left out of the fit, and where no set of them is met less well: of streams, over all points and on
the whole machine.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simtmm.calibration.hierarchy.fits import FITS, MEMORY_SERVICE, OF_HIERARCHY, REQUEST, SERVICE, TURNAROUND
from simtmm.calibration.hierarchy.joint import Found, JointFit, Rows, Start, Told, following, is_better
from simtmm.calibration.hierarchy.measured import MeasuredSet
from simtmm.calibration.hierarchy.simulated import SimulatedSet
from simtmm.calibration.hierarchy.streams import LEAST_WORSE, UNFELT, ChaseSet, StreamSet
from simtmm.calibration.least_squares import Numbers, cost
from simtmm.calibration.streams.occupancy_curve import OccupancyCurve
from simtmm.calibration.values import SetErrors, Value
from simtmm.machine import Machine
from simtmm.watch import Watch

WELL = 0.025  # mean error of streams from which on no other start is tried: what the project asks of calibrated GPUs
OFF = 0.001  # of a mean error, by which the whole machine may differ from what its part foretold
MOST_REPEATS = 1  # of a fit with the whole machine's bandwidths as they are at its end
PARTITIONS, INTERLEAVE, STORES = "memory.partitions", "memory.interleave", "memory.stores"
DETERMINED = 0.25  # standard error of a value over the value, at most, to be called determined

Beginning = Callable[[], Mapping[str, Any]]


@dataclass(frozen=True)
class Joint:
    """What came of it: values that changed, the sets' errors, notes, and streams at all points, if they were given."""

    values: tuple[Value, ...]
    sets: tuple[SetErrors, ...]
    notes: tuple[str, ...]
    curve: OccupancyCurve | None = None


class Together:
    """A fit to sets of measurements, from several starts."""

    def __init__(
        self,
        given: Machine,
        measured: Sequence[MeasuredSet],
        streams: StreamSet | None = None,
        chase: ChaseSet | None = None,
        beginning: Beginning | None = None,
        watch: Watch | None = None,
    ) -> None:
        """given: the machine to begin with. measured: sets of the hierarchy, one of a kind at most.

        streams, chase: those sets, if there. beginning: keys of another start, and their values. watch: called as
        things go on.
        """
        self.given, self.streams, self.chase, self._beginning = given, streams, chase, beginning
        self.simulated = [SimulatedSet(each, given) for each in measured]
        self.sets: list[Rows] = [*self.simulated, *(each for each in (streams, chase) if each is not None)]
        self.told = Told(self.sets, watch)
        self.keys = _keys(given, self.sets, streams, chase)

    def run(self) -> Joint:
        """The values, errors and notes of the best fit."""
        if self.streams is not None:
            self.streams.correct(self.given)
        begin = self.told.residuals(self.given)
        self.fit = JointFit(self.told, self.keys, self.streams.least_services if self.streams else None)
        found = self.fit.run(Start(self.given, {}), begin)
        tried = 1
        if self.streams is not None:
            found, tried = self._from_others(found, begin, self.streams)
        if self.streams is not None and self._streams_of(found.end) > self._streams_of(begin) - OFF:
            found = self._without_streams(found, self.streams)
        else:
            found = self.fit.finished(found)
            found = found if self.streams is None else self._as_whole(found, self.streams)
        notes = [*found.notes]
        if tried > 1:
            notes.append(f"streams: {tried} starts, of which one is {self.given.name}'s own values")
        values = dict(found.values) | self._structure(found)
        if not found.fits:
            return self._stays(begin, notes)
        if not is_better(found):
            reason = "on rows left out" if cost(found.end) < cost(begin) else "on its own rows"
            notes.append(f"no values are nearer to the measurements than {self.given.name}'s own ({reason}): they stay")
            return self._stays(begin, notes)
        curve = None
        if self.streams is not None:
            values, curve, more = self._checked(self.streams, values)
            notes += more
            if not values:
                return self._stays(begin, notes, curve)
        end = found.end if values.keys() >= found.values.keys() else self.told.residuals(self._machine(values))
        was, now = self.told.means(begin), self.told.means(end)
        if worse := [kind for kind in was if kind != "streams" and now[kind] > was[kind] + LEAST_WORSE]:
            notes.append(f"{', '.join(worse)}: what is left would be further from these rows: all values stay")
            return self._stays(begin, notes)
        shown = tuple(self._values(found, values))
        return Joint(shown, self._errors(begin, end, found.left_out), tuple(dict.fromkeys(notes)), curve)

    def _from_others(self, found: Found, begin: Numbers, streams: StreamSet) -> tuple[Found, int]:
        """The best of a fit and of those that begin elsewhere; and how many began in all."""
        tried = 1
        if self._beginning is not None and self.told.means(found.end)["streams"] > WELL:
            keys = dict(self._beginning())
            machine = with_partitions(self.given, int(keys.pop(PARTITIONS))).replace(streams.structure)
            values = {key: value for key, value in keys.items() if key in self.keys}
            found, tried = _best(found, self.fit.run(Start(machine, values), begin)), tried + 1
        seen = {found.start.machine.memory.partitions}
        while self.told.means(found.end)["streams"] > WELL and found.fits:
            partitions = found.start.machine.memory.partitions
            beside = [each for each in (partitions // 2, 2 * partitions) if each not in seen and each > 0]
            if not beside:
                break
            seen.add(beside[0])
            factor = beside[0] / partitions
            values = {
                key: value * (factor if key in (MEMORY_SERVICE, TURNAROUND) else 1)
                for key, value in found.values.items()
            }
            start = Start(with_partitions(found.start.machine, beside[0]), values)
            found, tried = _best(found, self.fit.run(start, begin, found)), tried + 1
        return found, tried

    def _as_whole(self, found: Found, streams: StreamSet) -> Found:
        """The fit as it is on the whole machine; once more, if that differs from what its part foretold."""
        before = self._streams_of(found.begin)
        for _ in range(MOST_REPEATS):
            end = self._exact(found.machine, found.end)
            exact = self._streams_of(end)
            if not found.fits or exact <= min(before, self._streams_of(found.end) + OFF):
                return replace(found, end=end)
            streams.correct(found.machine)
            again = Start(found.start.machine, found.values)
            found = self.fit.finished(self.fit.run(again, found.begin, found, self._not_in(found)))
        end = self._exact(found.machine, found.end)
        return replace(found, end=end) if self._streams_of(end) <= before else self._without_streams(found, streams)

    def _without_streams(self, found: Found, streams: StreamSet) -> Found:
        """A fit of the rest, where no values are nearer to the streams than those of the machine given."""
        streams.correct(self.given)
        keys = sorted(streams.keys())
        note = f"streams: no values are nearer to them than {self.given.name}'s own: they stay"
        found = self.fit.finished(self.fit.run(Start(self.given, {}), found.begin, found, keys))
        return replace(found, end=self._exact(found.machine, found.end), notes=(*found.notes, note))

    def _not_in(self, found: Found) -> list[str]:
        return sorted(self.keys - {fit.key for fit in found.fits})

    def _checked(
        self, streams: StreamSet, values: dict[str, Any]
    ) -> tuple[dict[str, Any], OccupancyCurve | None, list[str]]:
        """The values that streams do not become worse by, over all points on the whole machine; their curve; notes."""
        nearer, curve, off, own = streams.compared(self.given, self._machine(values))
        if nearer:
            return values, curve, []
        left = [key for key in values if key not in UNFELT]
        note = f"{', '.join(left)}: streams over occupancy would be off by {off:.2%} for {own:.2%}: left as before"
        return {key: value for key, value in values.items() if key in UNFELT}, streams.curve(self.given), [note]

    def _stays(self, begin: Numbers, notes: Sequence[str], curve: OccupancyCurve | None = None) -> Joint:
        """Nothing was found that is better than the machine given."""
        if self.streams is not None and curve is None:
            curve = self.streams.curve(self.given)
        return Joint((), self._errors(begin, begin, begin), tuple(dict.fromkeys(notes)), curve)

    def _machine(self, values: Mapping[str, Any]) -> Machine:
        return self.given.replace({**values, **following(self.given, values)})

    def _exact(self, machine: Machine, off: Numbers) -> Numbers:
        """Residuals of a machine: of streams as the whole one has them, of the others unchanged."""
        found = np.array(off)
        if self.streams is not None:
            found[self.told.kinds == "streams"] = self.streams.exact(machine)
        return found

    def _streams_of(self, off: Numbers) -> float:
        return self.told.means(off)["streams"]

    def _structure(self, found: Found) -> dict[str, Any]:
        """What the machine of a start has of its own: how many partitions, and with them how long each takes."""
        memory = found.start.machine.memory
        own = {
            PARTITIONS: memory.partitions,
            MEMORY_SERVICE: round(memory.service, 3),
            TURNAROUND: round(memory.turnaround, 3),
            INTERLEAVE: memory.interleave,
            STORES: memory.stores,
        }
        given = self.given.values()
        return {
            key: value
            for key, value in own.items()
            if key not in found.values and value != (round(given[key], 3) if isinstance(value, float) else given[key])
        }

    def _values(self, found: Found, values: Mapping[str, Any]) -> list[Value]:
        """Each value with what shows it."""
        called = {each.kind: each.called for each in self.sets}
        listed = []
        for fit in FITS:
            if fit.key not in values:
                continue
            error = found.spreads.get(fit.key)
            listed.append(
                Value(
                    fit.key,
                    values[fit.key],
                    "chunks" if fit.key == "memory.store_buffer" else "cycles",
                    "; ".join(called[kind] for kind in fit.shown_by if kind in called),
                    f"joint fit: {fit.how}",
                    error is not None and error <= DETERMINED * abs(float(values[fit.key])),
                    error,
                )
            )
        if self.streams is not None:
            own = [key for key in (INTERLEAVE, STORES) if key in values]
            listed += [Value(key, values[key], "", self.streams.called, "assumption", False) for key in own]
        if PARTITIONS in values and self.streams is not None:
            note = "joint fit: how softly bandwidth saturates; half and twice as many were tried"
            listed.append(Value(PARTITIONS, values[PARTITIONS], "partitions", self.streams.called, note, False))
        shown = {value.key: value.measurement for value in listed}
        for key, value in following(self.given, values).items():
            leader = SERVICE if key == REQUEST else MEMORY_SERVICE
            note = f"the share of {leader} that {self.given.name} has"
            listed.append(Value(key, value, "cycles", shown[leader], note))
        return listed

    def _errors(self, before: Numbers, after: Numbers, left_out: Numbers) -> tuple[SetErrors, ...]:
        means = [self.told.means(off) for off in (before, after, left_out)]
        return tuple(
            SetErrors(each.kind, each.called, each.rows, each.others, *(mean[each.kind] for mean in means))
            for each in self.sets
        )


def fit_hierarchy(machine: Machine, measured: Sequence[MeasuredSet], watch: Watch | None = None) -> Joint:
    """Fit a machine to measurements of its hierarchy alone.

    machine: to begin with; it keeps what they do not determine.
    measured: sets of rows, one of a kind at most.
    watch: called as things go on.
    """
    return Together(machine, measured, watch=watch).run()


def with_partitions(machine: Machine, partitions: int) -> Machine:
    """The machine with so many partitions, which all together move as much.

    partitions: how many.
    """
    memory = machine.memory
    factor = partitions / memory.partitions
    return machine.replace(
        {
            PARTITIONS: partitions,
            MEMORY_SERVICE: memory.service * factor,
            TURNAROUND: memory.turnaround * factor,
        }
    )


def _best(*found: Found) -> Found:
    """The fit that is nearest, among those by which no set is met less well than on the machine given."""
    return min(found, key=lambda each: (each.worse_by() > LEAST_WORSE, cost(each.end)))


def _keys(machine: Machine, sets: Sequence[Rows], streams: StreamSet | None, chase: ChaseSet | None) -> set[str]:
    """Keys that the machine has, and that a set may show."""
    values, kinds = machine.values(), {each.kind for each in sets}
    keys = {fit.key for fit in OF_HIERARCHY if kinds & set(fit.shown_by) and values.get(fit.key) is not None}
    keys = {fit.key for fit in OF_HIERARCHY if fit.key in keys and not (fit.of and values[fit.key] <= 0)}
    if not any(isinstance(each, SimulatedSet) and each.has_graphs for each in sets):
        keys.discard("scheduling.graph_launch_overhead")
    if streams is not None:
        keys |= streams.keys() - (set() if chase is not None else {"memory.latency"})
    return keys
