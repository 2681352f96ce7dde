"""The state of a page as it stands in its address: one configuration, or two side by side.

An address says `k=copy&m=classroom&latency=800&p.stride=4&drag=latency`: the program, the machine, controls by name,
the kernel's parameters behind `p.`, and what the curve is over. What begins with `b.` is of the second configuration,
and what begins with `v.` is the page's own: which warps it shows, say. Values are texts here; what they mean is for
`controls` and the kernel to say. A program is a name and never a path.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from simtmm.errors import StudyError, shown

MOST_TEXT = 2000  # characters of a state: an address of more is no link that anybody sends
MOST_ENTRIES = 64
PROGRAM, MACHINE, DRAG, SECOND, PARAMETER, VIEW = "k", "m", "drag", "b.", "p.", "v."


@dataclass(frozen=True)
class Configuration:
    """A program on a machine. controls, parameters: what differs from the machine's own values and the defaults."""

    program: str
    machine: str
    controls: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[object, ...]:
        """What tells it apart from all others."""
        return (self.program, self.machine, *sorted(self.controls.items()), "", *sorted(self.parameters.items()))


@dataclass(frozen=True)
class State:
    """drag: the control or parameter that the curve is over. other: the second configuration, where there is one."""

    first: Configuration
    other: Configuration | None = None
    drag: str = "latency"

    @classmethod
    def of(cls, text: str, program: str, machine: str) -> "State":
        """From the text of an address. program, machine: where it names none. Raises StudyError."""
        if len(text) > MOST_TEXT:
            raise StudyError(f"state: {len(text)} characters: must be at most {MOST_TEXT}")
        try:
            text.encode()  # bytes that are no text come from a command line
        except UnicodeEncodeError:
            raise StudyError(f"state: {shown(text)}: must be text in Unicode") from None
        try:
            entries = parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), max_num_fields=MOST_ENTRIES)
        except ValueError:
            raise StudyError(
                f"state: {shown(text)}: must be of the form NAME=VALUE&NAME=VALUE, at most {MOST_ENTRIES} of them"
            ) from None
        values: dict[str, str] = {}
        for name, value in entries:
            if name in values:
                raise StudyError(f"state: {shown(name)}: appears more than once")
            values[name] = value
        second = {name.removeprefix(SECOND): value for name, value in values.items() if name.startswith(SECOND)}
        own = {name: value for name, value in values.items() if not name.startswith((SECOND, VIEW))}
        drag = own.pop(DRAG, "latency")
        first = _configuration(own, program, machine)
        other = _configuration(second, first.program, first.machine) if second else None
        return cls(first, other, drag)

    def text(self) -> str:
        """The text again."""
        entries = _entries(self.first)
        if self.other is not None:
            entries += [(f"{SECOND}{name}", value) for name, value in _entries(self.other)]
        return urlencode([*entries, (DRAG, self.drag)])


def _configuration(values: Mapping[str, str], program: str, machine: str) -> Configuration:
    others = {name: value for name, value in values.items() if name not in (PROGRAM, MACHINE)}
    parameters = {name.removeprefix(PARAMETER): value for name, value in others.items() if name.startswith(PARAMETER)}
    controls = {name: value for name, value in others.items() if not name.startswith(PARAMETER)}
    return Configuration(values.get(PROGRAM, program), values.get(MACHINE, machine), controls, parameters)


def _entries(configuration: Configuration) -> list[tuple[str, str]]:
    return [
        (PROGRAM, configuration.program),
        (MACHINE, configuration.machine),
        *configuration.controls.items(),
        *((f"{PARAMETER}{name}", value) for name, value in configuration.parameters.items()),
    ]
