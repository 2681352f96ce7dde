"""docs/ptx-forms.md, the forms of each instruction: `python -m simtmm.cuda.execution.page` writes it anew."""

from collections.abc import Iterator
from pathlib import Path

from simtmm.cuda.execution.instructions.refused import REASONS
from simtmm.cuda.ptx.flow.basic_blocks import BARRIER_RESULT, LEAVE_CONVERGENCE
from simtmm.cuda.ptx.forms import split_form
from simtmm.cuda.ptx.isa import ROWS, SETS
from simtmm.files import write_text

PAGE = Path(__file__).parents[3] / "docs" / "ptx-forms.md"
OURS = (BARRIER_RESULT, LEAVE_CONVERGENCE)  # of no PTX
HEAD = """# PTX: the forms of each instruction

This page lists the forms that simtmm runs, from the table that it checks PTX against (simtmm/cuda/ptx/isa).
[PTX](ptx.md) says how exactly they run, and what simtmm refuses.

A form is what follows the opcode: modifiers and types, then operands. `?` marks an optional part, `/` separates
alternatives, and `~` stands for modifiers that are checked when the instruction is translated. Operands:

| | |
| --- | --- |
| `d` | a destination; `p`: one or two of them, `d\\|p`; `D`: one, or several in braces |
| `s` | a value; `r`: one in a register; `S`: one, or several in braces; `n`: a number |
| `v` `w` | values and destinations of video instructions, which may select a part |
| `V` `P` `T` | registers in braces: of any kind, of a matrix, of a texel |
| `m` | an address in brackets |
| `t` | a label, a table or a function; `*`: anything more |

An operand has the form's first type; `s1` has its second, `s=u32` has `.u32`, `d=wide` is twice as wide as the first,
and the register of `s~` may be wider than its type. Sets of modifiers:
"""


def text() -> str:
    """The text of the page."""
    return "\n".join((HEAD, *_sets(), "", *_table())) + "\n"


def _sets() -> Iterator[str]:
    yield "| | |"
    yield "| --- | --- |"
    for name, each in SETS.items():
        yield f"| `${name}` | {_code(each.replace('/', ' '))} |"


def _table() -> Iterator[str]:
    yield "| instruction | forms |"
    yield "| --- | --- |"
    for opcode in sorted(ROWS.keys() - REASONS.keys() - set(OURS)):
        yield f"| `{opcode}` | {'<br>'.join(map(_form, ROWS[opcode].forms.split(';')))} |"


def _form(form: str) -> str:
    modifiers, alternatives = split_form(form)
    return " or ".join(
        _code(" ".join((*modifiers, *([":", ", ".join(operands)] if operands else [])))) for operands in alternatives
    )


def _code(words: str) -> str:
    return f"`{words}`" if words else "nothing"


if __name__ == "__main__":
    write_text(PAGE, text())
