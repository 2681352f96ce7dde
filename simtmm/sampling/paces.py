"""What the blocks that were left out of a launch take, by the paces of its stretches, with its interval.

Where blocks are alike along a launch, it is the mean pace. Where they are not, as its profile says, each kind of blocks
has a pace of its own, which goes up with their work; cells are taken to keep the pace of their kind and their work.
"""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from simtmm.sampling.differing.profile import Profile
from simtmm.sampling.differing.signature import Floats, Integers
from simtmm.sampling.interval import half_width, quantile
from simtmm.sampling.stretches import Stretches
from simtmm.sampling.trend import EQUAL, Trend, trend

LEAST = 0.002  # by which paces change within stretches, as a part of them, and are taken not to
STRAGGLES = 2  # times a block, from which on what runs on behind the last block that began is looked at
DRIFTS_ON = 2  # times as much as from one quarter of the beginning to the next: where each changes two thirds as much
OWN = 4  # stretches of a kind whose own spread is looked at


@dataclass(frozen=True)
class LeftOut:
    """What was left out takes.

    ticks: of it. chance: half of their interval, so far as more stretches narrow it. settling: so far as a longer
    beginning does: by how much the pace may still change, as it has since then, or was changing there. warming: so far
    as longer stretches do: by how much the pace changes within them. kinds: of blocks, that were distinguished.
    """

    ticks: float
    chance: float
    settling: float
    warming: float = 0.0
    kinds: int = 1


@dataclass(frozen=True)
class Timed:
    """What is known of the waves whose pace was taken: first those of the launch's beginning, then each stretch.

    work: float64[1 + stretches], of a block. places: float64[1 + stretches, places].
    """

    work: Floats
    places: Floats


def left_out(plan: Stretches, begun: Integers, profile: Profile, timed: Timed) -> LeftOut:
    """What was left out of a launch takes.

    begun: int64[blocks], when each block of the sample was placed.
    """
    paces, at_first = plan.paces(begun), plan.paces_at_first(begun)
    if profile.is_even:
        around = plan.waves_left_out_around()
        ticks = float((paces * around).sum())
        settling = max(_settling(at_first, paces, plan), DRIFTS_ON * plan.drift_at_first(begun))
        found = LeftOut(ticks, half_width(paces, around), ticks * settling)
    else:
        kinds, _ = profile.kinds_of(timed.places)
        together = dataclasses.replace(profile, kind=np.zeros_like(profile.kind))
        by_kind = _by(plan, paces, at_first, profile, kinds, timed.work)
        by_work = _by(plan, paces, at_first, together, np.zeros_like(kinds), timed.work)
        found = min(by_kind, by_work, key=lambda each: (each.chance + each.settling) / max(1.0, each.ticks))
    changes = plan.changes(begun) / paces
    change, error = abs(float(changes.mean())), float(changes.std(ddof=1)) / math.sqrt(len(changes))
    return dataclasses.replace(found, warming=found.ticks * change) if change > max(2 * error, LEAST) else found


def hidden(plan: Stretches, begun: Integers, ticks: float) -> float:
    """Ticks at the end of a sample in which blocks still run that take far longer than others do: behind what was left
    out they would have ended, if they had begun before it.

    begun: see `left_out`. ticks: of the sample's launch, its overhead apart.
    """
    last = begun[-plan.wave :].mean() - begun[-2 * plan.wave : -plan.wave].mean()
    of_block = max(float(last), float(plan.paces(begun).max()))  # a wave takes as long as a block does
    drain = ticks - float(begun.max())
    return drain - of_block if drain > STRAGGLES * of_block else 0.0


def _by(plan: Stretches, paces: Floats, at_first: Floats, profile: Profile, kinds: Integers, work: Floats) -> LeftOut:
    """What was left out takes, by the kinds of a profile. kinds, work: as `Timed` has them."""
    first, own = int(kinds[0]), kinds[1:]
    like_first = own == first
    model = _Model(paces, work[1:], own)
    settling = 0.0
    if model.has_seen(first, float(work[0])):
        settling = _settling(at_first / model.pace(first, float(work[0])), (paces / model.fitted)[like_first], plan)
    elif like_first.any():  # they have more work, or less, than all stretches: then they tell how the pace goes up
        model = _Model(np.append(at_first.mean(), paces), work, kinds)
        own = kinds
    waves = sum((profile.within(*each) for each in plan.left_out()), np.zeros(len(profile.work))) / plan.wave
    each = waves * [model.pace(kind, here) for kind, here in zip(profile.kind.tolist(), profile.work, strict=True)]
    relative = model.paces / model.fitted
    chance = math.hypot(
        _of_paces(relative, own, profile, each) * model.fewer,
        _of_work(profile, waves, model),
        _of_bounds(profile, waves, model),
    )
    unseen = float(each[~np.isin(profile.kind, own)].sum())
    settling *= float(each[profile.kind == first].sum())
    kinds_seen = len(set(own.tolist()))
    return LeftOut(float(each.sum()), chance + unseen + model.beyond(profile, waves), settling, kinds=kinds_seen)


class _Model:
    """The pace of waves by kind and work: of a kind whose work differs, a line, or what is proportional."""

    def __init__(self, paces: Floats, work: Floats, kind: Integers) -> None:
        self._lines: dict[int, Trend] = {}
        self._range: dict[int, tuple[float, float]] = {}
        self._any = Trend(0.0, float(paces.sum() / max(1e-300, work.sum())), 1)  # of a kind that was not seen
        self.paces, self.fitted = paces, np.empty(len(paces))
        parameters = 0
        for own in sorted(set(kind.tolist())):
            at = kind == own
            here, pace = work[at], paces[at]
            self._range[own] = (float(here.min()), float(here.max()))
            line = trend(here, pace)
            parameters += line.parameters
            self._lines[own] = line
            self.fitted[at] = line.base + line.slope * here
        self.fitted = np.maximum(self.fitted, 1e-300)
        self.fewer = math.sqrt((len(paces) - 1) / max(1, len(paces) - parameters))  # as parameters were fitted

    def pace(self, kind: int, work: float) -> float:
        """Ticks of a wave; beyond the work that was seen of a kind whose own does not differ, in proportion to it."""
        line = self._lines.get(kind, self._any)
        if line.slope == 0 and work:
            return line.base * work / self._nearest(kind, work)
        return line.base + line.slope * work

    def _nearest(self, kind: int, work: float) -> float:
        """Of the work that was seen of a kind, what is nearest to that; that itself where it hardly differs."""
        low, high = self._range.get(kind, (work, work))
        seen = min(max(work, low), high)
        return seen if seen and abs(work - seen) > EQUAL * work else work

    def has_seen(self, kind: int, work: float) -> bool:
        """Whether waves of that kind with about as much work were among those that it was made of."""
        return kind in self._range and self._nearest(kind, work) == work

    def slope(self, kind: int) -> float:
        """Ticks of a wave by work of a block."""
        return self._lines.get(kind, self._any).slope

    def beyond(self, profile: Profile, waves: Floats) -> float:
        """By how much the time of cells with more or less work than was seen depends on how the pace goes up."""
        apart = 0.0
        cells = (profile.kind.tolist(), profile.work.tolist(), profile.error.tolist(), waves.tolist())
        for kind, work, error, here in zip(*cells, strict=True):
            seen = self._nearest(kind, work)
            if abs(seen - work) > 2 * error:
                pace, flat = self.pace(kind, work), self.pace(kind, seen)
                apart += here * max(abs(pace - other) for other in (flat, flat * work / seen))
        return apart


def _of_paces(relative: Floats, kind: Integers, profile: Profile, each: Floats) -> float:
    """Half of the interval by what paces differ from those expected; of all together, or of each kind, if that is more.

    relative: float64[stretches], paces by those expected. each: float64[cells], ticks of what was left out.
    """
    shares = np.zeros(len(kind))
    of_kinds = 0.0
    for own in sorted(set(kind.tolist())):
        at = kind == own
        shares[at] = each[profile.kind == own].sum() / at.sum()
        if at.sum() >= OWN:
            of_kinds += half_width(relative[at], shares[at]) ** 2
    return max(half_width(relative, shares), math.sqrt(of_kinds))


def _of_work(profile: Profile, waves: Floats, model: _Model) -> float:
    """Half of the interval by what is not known of the work of cells."""
    if not profile.error.any():
        return 0.0
    slopes = np.array([model.slope(kind) for kind in profile.kind.tolist()])
    return quantile(profile.seen - len(profile.work)) * float(np.sqrt(((waves * slopes * profile.error) ** 2).sum()))


def _of_bounds(profile: Profile, waves: Floats, model: _Model) -> float:
    """Half of the interval by where in a cell a kind ends: anywhere in it, as one of two counts for all of it."""
    cuts = np.flatnonzero(np.diff(profile.kind))
    variance = 0.0
    for cut in cuts.tolist():
        both = [model.pace(int(profile.kind[at]), float(profile.work[at])) for at in (cut, cut + 1)]
        variance += (float(waves[cut : cut + 2].mean()) * abs(both[0] - both[1])) ** 2 / 12
    return quantile(math.inf) * math.sqrt(variance)


def _settling(at_first: Floats, paces: Floats, plan: Stretches) -> float:
    """By how much the pace may still change after what was simulated, as a part of it: by as much as it has since the
    end of the launch's beginning, where that is more than chance.
    """
    mean, first = float(paces.mean()), float(at_first.mean())
    if len(paces) < 2 or not mean:
        return 0.0
    apart = abs(mean - first) / mean
    waves = plan.form.timed - 1  # over which a pace is a mean
    error = float(paces.std(ddof=1)) / mean * math.sqrt(waves / len(at_first) + 1 / len(paces))
    return apart if apart > 2 * error else 0.0
