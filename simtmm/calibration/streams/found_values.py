"""What a fit of streams found, as values of a machine's keys: each with what shows it, and how sure it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simtmm.calibration.least_squares import Fitted, Parameter
from simtmm.calibration.streams.part import ATOMICS, HASHED, HOLDABLE, INTERLEAVE, READ, MachinePart
from simtmm.calibration.streams.uncertainty import Uncertainty
from simtmm.calibration.values import Value

AS_GOOD = 1.05  # costs that differ by no more than this factor do not tell partitions apart
DETERMINED = 0.25  # standard error of a value over the value, at most, to be called determined


@dataclass(frozen=True)
class FoundValues:
    """The end of a fit.

    part: the part of the machine that was fitted. called: what the measurement is called in sources.
    fits: the last of each number of partitions. partitions: the number that was best, of the part.
    values: the fitted values, by what fits call them. spread: how sure they are over all that was chosen.
    """

    part: MachinePart
    called: str
    fits: Mapping[int, tuple[Sequence[Parameter], Fitted]]
    partitions: int
    values: Mapping[str, float]
    spread: Uncertainty

    def all(self) -> tuple[list[Value], list[str]]:
        """Values of a machine's keys with their sources, and notes on them."""
        partitions = round(self.partitions * self.part.scale)
        keys = self.part.keys(self.values, partitions, self.part.scale)
        good = [
            count for count, (_, fit) in self.fits.items() if fit.cost <= AS_GOOD * self.fits[self.partitions][1].cost
        ]
        least, most = (round(count * self.part.scale) for count in (min(good), max(good)))
        tried = ", ".join(str(round(count * self.part.scale)) for count in sorted(self.fits))
        per_chunk = partitions / self.part.scale
        values = [
            Value(INTERLEAVE, self.part.machine.memory.interleave, "", self.called, "assumption", False),
            Value(
                "memory.partitions", partitions, "partitions", self.called,
                f"how softly bandwidth saturates; tried last, on all kernels: {tried}; {partitions} fits best, "
                f"{least} to {most} as well within {100 * (AS_GOOD - 1):.0f} %; with points and kernels drawn anew it "
                f"is best in {100 * self.spread.shares[self.partitions]:.0f} % of draws",
                most < 2 * least,
            ),
            self._value(keys, "memory.service", "chunk", "read kernel, its saturated end", per_chunk),
            *(
                [Value(ATOMICS, keys[ATOMICS], "cycles", self.called, "assumption: as service", False)]
                if self.part.atomics_follow
                else []
            ),
            self._value(keys, "scheduling.block_launch", "block_launch", "read kernel, low occupancy, less L"),
            self._value(keys, "scheduling.warp_launch", "warp_launch", "read kernel, over the warps of a round"),
        ]  # fmt: skip
        if self.part.storing:
            values += [
                Value("memory.stores", "at-end", "", self.called, "assumption: a block ends when its stores do", False),
                self._value(keys, "memory.store_latency", "store_latency", "kernels that store, low occupancy"),
                self._value(
                    keys, "memory.turnaround", "turnaround", "kernels that load and store, saturated", per_chunk
                ),
                self._value(keys, "memory.port_interval", "port_interval", "stencils, whose lines are loaded again"),
            ]
        if self.part.tells_stores:
            values += [
                self._value(
                    keys,
                    "memory.store_buffer",
                    "store_buffer",
                    "kernels that only store, how sharply they saturate",
                    unit="chunks",
                ),
                self._value(
                    keys,
                    "memory.fetch_interval",
                    "fetch_interval",
                    "kernels that load, over the warps of a round",
                ),
                self._value(keys, "memory.return_delay", "return_delay", "kernels that store what they load"),
                self._value(keys, "memory.return_interval", "return_interval", "likewise, over what they load"),
                self._value(keys, "memory.store_interval", "store_interval", "kernels that only store"),
            ]
        peak = keys["memory.partitions"] * self.part.machine.chunk_bytes / keys["memory.service"] * self.part.clock
        note = f"peak bandwidth from `partitions` and `service`: {peak / 1e9:.0f} GB/s"
        if self.part.machine.memory.interleave == HASHED:
            note += ", which hashed partitions approach only with far more chunks in flight than a machine holds"
        kernels = ", ".join([READ, *self.part.storing])
        together = f"stream values are fitted to {kernels} together; sources name what shows each"
        values = [value for value in values if HOLDABLE.get(value.key) not in self.part.held]
        return values, [note, together] if self.part.storing else [note]

    def _value(
        self, keys: Mapping[str, Any], key: str, name: str, note: str, factor: float = 1.0, unit: str = "cycles"
    ) -> Value:
        """The value of a machine's key.

        name: what fits call it. note: what shows it. factor: of the key's value over the fitted one, for its error.
        """
        value, error = keys[key], self._error(name) * factor
        reported = None if np.isinf(error) else error
        return Value(key, value, unit, self.called, note, error <= DETERMINED * value, reported)

    def _error(self, name: str) -> float:
        """The standard error of a value; infinite where the fit tells nothing of it, 0 if it was not fitted."""
        if name not in self.spread.errors:
            return 0.0
        is_told = np.isfinite(self.fits[self.partitions][1].errors[name])
        return self.spread.errors[name] if is_told else np.inf
