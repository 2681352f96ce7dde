"""A counter-example to a promise: a table of turns and a picture, as text and as SVG."""

from collections.abc import Sequence
from pathlib import Path

from simtmm.errors import OutputError
from simtmm.files import write_text, written_whole
from simtmm.testing.grants import Grants, Turn
from simtmm.testing.laws.law import Breach

MOST_ROWS = 24  # of the table: the first of them, and those up to the breach
FIRST_ROWS = 6
WIDEST = 96  # columns of the picture, a turn each
LETTERS = {
    "ready": "r", "issuing": "i", "pipeline": "p", "memory": "m", "barrier": "b", "pause": "z", "start": "s",
}  # fmt: skip
LEGEND = "G granted, r ready, i issuing, p pipeline, m memory, b barrier, z pause, s start"
COLOURS = {
    "G": "#1b7837", "r": "#fdae61", "i": "#a6dba0", "p": "#d9f0d3", "m": "#92c5de", "b": "#c2a5cf", "z": "#dddddd",
    "s": "#eeeeee",
}  # fmt: skip
LOWEST, ROW, COLUMN, LEFT, TOP = 28, 18, 10, 70, 46  # pixels of the SVG


def turns_table(grants: Grants, breach: Breach) -> str:
    """The turns up to the breach, in the group that it is in: tick, who was ready, who was granted."""
    turns = _up_to(grants, breach)
    left_out = max(0, len(turns) - MOST_ROWS)
    shown: list[Turn | None] = [*turns]
    if left_out:
        shown = [*turns[:FIRST_ROWS], None, *turns[FIRST_ROWS + left_out :]]
    rows = [("tick", "ready", "granted")]
    rows += [_row(turn) if turn else ("...", f"{left_out} turns", "") for turn in shown]
    wide = [max(len(row[column]) for row in rows) for column in range(2)]
    lines = [f"{row[0]:>{wide[0]}}  {row[1]:<{wide[1]}}  {row[2]}".rstrip() for row in rows]
    return "\n".join(lines) + "   <- here"


def _row(turn: Turn) -> tuple[str, str, str]:
    ready = " ".join(str(number) for number in turn.ready)
    if turn.granted is not None:
        return str(turn.tick), ready, str(turn.granted)
    return str(turn.tick), ready, "nobody" if turn.until is None else f"nobody until {turn.until}"


def _up_to(grants: Grants, breach: Breach) -> list[Turn]:
    """The turns of the breach's group, up to it."""
    if not grants.turns:
        return []
    group = grants.turns[breach.turn].group
    return [turn for turn in grants.turns[: breach.turn + 1] if turn.group == group]


def _letters(turns: Sequence[Turn]) -> dict[int, str]:
    """What each warp does at each turn, a letter each."""
    numbers = sorted({warp.number for turn in turns for warp in turn.warps})
    rows = dict.fromkeys(numbers, "")
    for turn in turns:
        states = {warp.number: LETTERS[warp.state] for warp in turn.warps}
        if turn.granted is not None:
            states[turn.granted] = "G"
        for number in numbers:
            rows[number] += states.get(number, " ")
    return rows


def text_picture(grants: Grants, breach: Breach) -> str:
    """A row for each warp, a column for each turn up to the breach: what the warp does then."""
    turns = _up_to(grants, breach)[-WIDEST:]
    rows = _letters(turns)
    marked = {number: ">" if number in breach.warps else " " for number in rows}
    lines = [f"{'':10}{_ticks(turns)}"] if turns else []
    lines += [f"{marked[number]} warp {number:<3}{letters}".rstrip() for number, letters in rows.items()]
    return "\n".join([*lines, f"{'':10}{LEGEND}"])


def _ticks(turns: Sequence[Turn]) -> str:
    """The first and the last tick, above their columns if there is room."""
    first, last = f"tick {turns[0].tick}", f"tick {turns[-1].tick}"
    if first == last:
        return first
    wide = len(turns) - len(first)
    return f"{first}{last:>{wide}}" if wide > len(last) else f"{first} to {turns[-1].tick}"


def save_picture(path: str | Path, title: str, grants: Grants, breach: Breach) -> None:
    """Write the same picture as SVG.

    Raises OutputError for a path that does not end in .svg, or can't be written.
    """
    if Path(path).suffix.lower() != ".svg":
        raise OutputError(f"{path}: a counter-example is drawn as SVG: the name must end in .svg")
    turns = _up_to(grants, breach)[-WIDEST:]
    rows = _letters(turns)
    width, height = LEFT + COLUMN * max(len(turns), 60) + 10, TOP + ROW * len(rows) + LOWEST
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
        'font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="8" y="16" font-size="12">{_escaped(title)}</text>',
        f'<text x="8" y="32">{_escaped(breach.what)}</text>',
    ]
    for row, (number, letters) in enumerate(rows.items()):
        y = TOP + ROW * row
        weight = ' font-weight="bold"' if number in breach.warps else ""
        parts.append(f'<text x="8" y="{y + 12}"{weight}>warp {number}</text>')
        for column, letter in enumerate(letters):
            if letter != " ":
                x, what = LEFT + COLUMN * column, f"warp {number}, tick {turns[column].tick}: {letter}"
                parts.append(
                    f'<rect x="{x}" y="{y}" width="{COLUMN - 1}" height="{ROW - 3}" fill="{COLOURS[letter]}">'
                    f"<title>{what}</title></rect>"
                )
    below = TOP + ROW * len(rows) + 12
    if turns:
        parts.append(f'<text x="{LEFT}" y="{below}">turns from tick {turns[0].tick} to {turns[-1].tick}</text>')
    x = LEFT + 170
    for letter, word in (part.split(" ", 1) for part in LEGEND.split(", ")):
        parts.append(f'<rect x="{x}" y="{below - 9}" width="9" height="9" fill="{COLOURS[letter]}"/>')
        parts.append(f'<text x="{x + 12}" y="{below}">{word}</text>')
        x += 20 + 6 * len(word)
    with written_whole(Path(path)) as temporary:
        write_text(temporary, "\n".join([*parts, "</svg>", ""]))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
