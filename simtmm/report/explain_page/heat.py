"""Source heat: the program's lines with what warps spend there, and the instructions that a line became."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simtmm.report.explain.code import Coded, Line
from simtmm.report.explain_page.measures import GROUP_OF, Measured, short
from simtmm.report.stalls import reason_of
from simtmm.stalls import Place, Reason

MOST_HOT = 1_500  # lines with what is known of them
MOST_INSTRUCTIONS = 8_000
MOST_CODE, MOST_CODE_OF_A_LINE = 8_000, 400  # instructions of SASS and of PTX
MOST_SHOWN = 6_000  # lines of source
MOST_TEXT = 1_500_000  # bytes of them
LONGEST, LONGEST_INSTRUCTION = 300, 120  # characters
AROUND = (1_000, 100, 20, 5, 1, 0)  # lines shown about a line with heat: as many as there is room for

MeasuredLines = Mapping[Line, Sequence[Sequence[str]]]
"""Of a line what a GPU's profiler says of it: (quantity, simulated, measured, difference) of each, in words."""

Key = tuple[str, int, str]  # file, line, and what tells apart what has no line


@dataclass
class _Hot:
    """A line of a file. numbers: of its places. by_instruction: of each instruction."""

    place: Place
    numbers: list[int] = field(default_factory=list)
    by_instruction: dict[tuple[int, str], list[int]] = field(default_factory=dict)


def heat(
    measured: Measured,
    sources: Mapping[str, Sequence[str]],
    codes: Mapping[str, Mapping[Line, Sequence[Coded]]] | None = None,
    profiled: MeasuredLines | None = None,
) -> dict[str, Any]:
    """For JSON. profiled: what a GPU's profiler says of lines.

    hot: lines where anything happened, the hottest first: file (an index of files), line, what `Measured.summed`
    says, their instructions, and of each of `codes` (by name) what the line became. files: name, note, and lines as
    (number, text, index of hot or None); a line of number 0 stands for those left out, one of number -1 has none.
    """
    found, shares = _lines(measured)
    ordered = list(shares)
    shown = ordered[:MOST_HOT]
    names = list(dict.fromkeys(_file(key, found[key].place) for key in shown))
    at = {key: index for index, key in enumerate(shown)}
    left, room = MOST_INSTRUCTIONS, MOST_CODE
    hot = []
    for key in shown:
        own = found[key]
        instructions = _instructions(own, measured)[:left]
        left -= len(instructions)
        below = _code(key, codes or {}, room, measured)
        room -= sum(len(each["rows"]) for each in below)
        hot.append(
            {
                "file": names.index(_file(key, own.place)),
                "line": key[1],
                "text": _cut(_text(own.place, sources)),
                "function": own.place.function,
                "arrays": measured.arrays_of(own.numbers),
                **measured.summed(own.numbers),
                **({"made": instructions} if instructions else {}),
                **({"code": below} if below else {}),
                **({"profiled": list(profiled[key[:2]])} if profiled and key[:2] in profiled else {}),
                **({"left": len(own.by_instruction) - len(instructions)} if own.place.instruction else {}),
            }
        )
    by_file: dict[str, list[Key]] = {name: [] for name in names}
    for key in found:  # in the order of the program
        if key in at:
            by_file[_file(key, found[key].place)].append(key)
    around = next((lines for lines in AROUND if _is_little(by_file, sources, lines)), None)
    files = []
    for name, keys in by_file.items():
        whole = sources.get(name) if around is not None and keys[0][1] else None
        lines = _whole(keys, whole, at, around or 0) if whole else _recorded(keys, found, at)
        files.append({"name": name, "note": _note(whole is not None, bool(keys[0][1])), "lines": lines})
    rest = ordered[MOST_HOT:]
    return {
        "hot": hot,
        "files": files,
        "left": {"lines": len(rest), "share": sum(shares[key] for key in rest)},
    }


def hot_of_places(measured: Measured) -> dict[int, int]:
    """Of places the index of their line among `hot`; those of lines that are left out are not there."""
    found, shares = _lines(measured)
    return {number: index for index, key in enumerate(list(shares)[:MOST_HOT]) for number in found[key].numbers}


def _lines(measured: Measured) -> tuple[dict[Key, _Hot], dict[Key, float]]:
    """The lines in the order of the program, and their parts of the time, the largest first."""
    places = measured.stalls.places
    found: dict[Key, _Hot] = {}
    for number in measured.numbers:
        site = number // len(places.arrays)
        place, _ = places.place(number)
        key = (place.file, place.line, "") if place.line else (place.file, 0, f"{place.function} {site}")
        hot = found.setdefault(key, _Hot(place))
        hot.numbers.append(number)
        if place.instruction:
            hot.by_instruction.setdefault((site, place.instruction), []).append(number)
    shares = {key: measured.share(hot.numbers) for key, hot in found.items()}
    return found, dict(sorted(shares.items(), key=lambda item: -item[1]))


def _file(key: Key, place: Place) -> str:
    """The name that stands above lines: without lines, that of a function."""
    return place.file if key[1] else place.function or place.file or "operations"


def _text(place: Place, sources: Mapping[str, Sequence[str]]) -> str:
    lines = sources.get(place.file, ())
    if 0 < place.line <= len(lines):
        return lines[place.line - 1].strip()
    return place.source or place.instruction or place.kind


def _instructions(hot: _Hot, measured: Measured) -> list[dict[str, Any]]:
    if not hot.place.line:
        return []  # it is an instruction itself
    return [
        {"text": _cut(text, LONGEST_INSTRUCTION), **measured.summed(numbers, most=1)}
        for (_, text), numbers in sorted(hot.by_instruction.items())
    ]


def _code(
    key: Key, codes: Mapping[str, Mapping[Line, Sequence[Coded]]], room: int, measured: Measured
) -> list[dict[str, Any]]:
    """What a line became: (text, times, part of the time, main reason, its group), the last three where a site ends."""
    found = []
    for name, of_lines in codes.items():
        all_of_it = of_lines.get(key[:2], ()) if key[1] else ()
        kept = all_of_it[: min(room, MOST_CODE_OF_A_LINE)]
        room -= len(kept)
        kernels = len({each.kernel for each in all_of_it}) > 1
        rows: list[list[Any]] = []
        for each in kept:
            text = _cut(f"{each.kernel}: {each.text}" if kernels else each.text, LONGEST_INSTRUCTION)
            row: list[Any] = [text, each.times]
            if each.ticks is not None and each.ticks.any():
                most = GROUP_OF[Reason(int(each.ticks.argmax()))]
                row += [short(int(each.ticks.sum()) / measured.whole), reason_of(each.ticks), most]
            rows.append(row)
        if rows:
            found.append({"name": name, "rows": rows, "left": len(all_of_it) - len(rows)})
    return found


def _is_little(by_file: Mapping[str, Sequence[Key]], sources: Mapping[str, Sequence[str]], around: int) -> bool:
    """Whether the source fits the page with so many lines about each line with heat."""
    number = size = 0
    for name, keys in by_file.items():
        lines = sources.get(name, ())
        for line in _near(keys, len(lines), around):
            number += 1
            size += len(_cut(lines[line - 1]).encode())
    return number <= MOST_SHOWN and size <= MOST_TEXT


def _near(keys: Sequence[Key], lines: int, around: int) -> list[int]:
    near: set[int] = set()
    for _, line, _ in keys:
        near.update(range(max(1, line - around), min(lines, line + around) + 1))
    return sorted(near)


def _whole(
    keys: Sequence[Key], lines: Sequence[str], at: Mapping[Key, int], around: int
) -> list[tuple[int, str, int | None]]:
    of_lines = {line: at[key] for key in keys for line in (key[1],)}
    shown: list[tuple[int, str, int | None]] = []
    before = 0
    for line in [*_near(keys, len(lines), around), len(lines) + 1]:
        if line > before + 1:
            shown.append((0, f"{line - before - 1:,} lines without time", None))
        if line <= len(lines):
            shown.append((line, _cut(lines[line - 1].expandtabs(4)), of_lines.get(line)))
        before = line
    beyond = [(key[1], "", at[key]) for key in keys if key[1] > len(lines)]  # another file than the one recorded
    return [*shown, *beyond]


def _recorded(keys: Sequence[Key], found: Mapping[Key, _Hot], at: Mapping[Key, int]) -> list[tuple[int, str, int]]:
    ordered = sorted(keys, key=lambda key: key[1])  # those without a line keep the order of the program
    return [(key[1] or -1, _cut(_text(found[key].place, {})), at[key]) for key in ordered]


def _note(is_whole: bool, has_lines: bool) -> str:
    if is_whole:
        return ""
    return "only the recorded lines; the file is not available" if has_lines else "no source lines are known"


def _cut(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}\u2026"
