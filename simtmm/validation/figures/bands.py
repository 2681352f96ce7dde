"""Claims over what their papers leave open: each point simulated, and a picture of all points."""

from collections.abc import Iterator, Mapping
from typing import Any

from simtmm.errors import StudyError
from simtmm.machine import Machine, load_machine
from simtmm.parameter.expression import expression
from simtmm.validation.band import Band as Points
from simtmm.validation.band import Value, band
from simtmm.validation.cases.gtx480_apsp import one_group
from simtmm.validation.claims.bands import Band, Side, find_band
from simtmm.validation.figures.figure import Curve, Figure, curve
from simtmm.validation.figures.programs import FITTED_NOTHING, launches_ms, seconds, simulated

NONE = "none"  # as a machine's key: without it


def drawn(name: str) -> tuple[Figure, ...]:
    """The figure of a band, simulated. Raises StudyError for an unknown one, and what a simulation ends in."""
    found = find_band(name)
    return (figure(found, simulate_band(found)),)


def simulate_band(of: Band) -> Points:
    """What comes out at each setting."""
    return band(of.axes, lambda **setting: outcome(of, setting), of.holds)


def outcome(of: Band, setting: Mapping[str, Value]) -> float:
    """What comes out at one setting: the quantity of one side over that of the other."""
    machine = load_machine(of.machine)
    if of.one_group:
        machine = one_group(machine)
    machine = _changed(machine, of.set, setting)
    one, other = (_quantity(side, machine, setting) for side in (of.of, of.over))
    return one / other


def _quantity(side: Side, machine: Machine, setting: Mapping[str, Value]) -> float:
    if side.value:
        return float(_value(side.value, setting))
    at = _changed(machine, side.set, setting)
    parameters = {name: _value(value, setting) for name, value in side.parameters.items()}
    if side.quantity == "l1_hit_rate":
        result = simulated(at, side.kernel, parameters)
        streamed = int(parameters["n"]) * 4 // at.chunk_bytes  # chunks of positions, which never hit
        return float(result.l1_hits / (result.transactions - streamed))
    if side.launches:
        return sum(ms for name, ms in launches_ms(at, side.kernel, parameters) if name.startswith(side.launches)) / 1e3
    return seconds(at, side.kernel, parameters)


def _changed(machine: Machine, keys: Mapping[str, Any], setting: Mapping[str, Value]) -> Machine:
    changes = {key: _value(value, setting) for key, value in keys.items()}
    removed = {key: None for key, value in changes.items() if value == NONE}
    return machine.replace(changes | removed) if changes else machine


def _value(value: Any, setting: Mapping[str, Value]) -> Any:
    """A value as it stands, or by its expression of the axes."""
    if not isinstance(value, str) or not value.startswith("="):
        return value
    return expression(value[1:], "expression of a band", StudyError).value(setting)


def figure(of: Band, points: Points) -> Figure:
    """The picture of a band: a curve for each combination of the axes but one.

    of: the band.
    """
    bounds = [
        f"at {side} {value:g}"
        for side, value in (("least", of.at_least), ("most", of.at_most))
        if abs(value) != float("inf")
    ]
    return Figure(
        of.name,
        of.title,
        of.source,
        FITTED_NOTHING,
        "all points",
        x=of.x,
        y=f"{of.outcome}; claimed: {' and '.join(bounds)}",
        logarithmic="xy",
        curves=tuple(_curves(of, points)),
        notes=(f"By {of.criterion}: {points.words}.",),
        shrunk=of.shrunk,
    )


def _curves(of: Band, points: Points) -> Iterator[Curve]:
    place = points.axes.index(of.along)
    by_others: dict[tuple[Value, ...], dict[float, float]] = {}
    for point in points.points:
        others = point.values[:place] + point.values[place + 1 :]
        by_others.setdefault(others, {})[float(point.values[place])] = point.outcome
    names = points.axes[:place] + points.axes[place + 1 :]
    for others, along in by_others.items():
        label = ", ".join(f"{name} = {value}" for name, value in zip(names, others, strict=True))
        yield curve(label, "simulated", along)
