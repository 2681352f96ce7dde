"""DEPBAR: which scoreboards it waits for."""

from types import SimpleNamespace

import pytest

from simtmm.cuda.ptx.flow.steps import COPIES
from simtmm.cuda.ptx.syntax import Immediate
from simtmm.cuda.sass.families.control import await_board
from simtmm.cuda.sass.kernel import _waited_for
from simtmm.cuda.sass.listing import parse_listing
from simtmm.errors import SassError


def instruction_of(text):
    listing = f'\t.section\t.text.k,"ax",@progbits\n        /*0000*/ {text} ; /* 0x{0:016x} */\n /* 0x{0:016x} */\n'
    [instruction] = parse_listing(listing, "k").instructions
    return instruction


@pytest.mark.parametrize(
    ("text", "waits", "left"),
    [
        ("DEPBAR {5,4,0}", ("SB5", "SB4", "SB0"), None),
        ("DEPBAR {5,1}", ("SB5", "SB1", COPIES), None),
        ("DEPBAR.LE SB1, 0x2", ("SB1",), 2),
        ("DEPBAR.LE SB1, 0x2, {5,4}", ("SB1", "SB5", "SB4"), 2),
        ("DEPBAR.LE SB1, 0x2, {1}", ("SB1", "SB1", COPIES), None),
        ("DEPBAR.LE SB1, 0x0, {5}", ("SB1", "SB5", COPIES), None),
        ("DEPBAR.LE SB0, 0x1, {5}", ("SB0", "SB5"), None),
        ("DEPBAR.LE SB0, 0x1, {1}", ("SB0", "SB1", COPIES), None),
    ],
)
def test_scoreboards_in_braces_are_to_be_clear(text, waits, left):
    """Groups of copies are counted by scoreboard 1."""
    assert _waited_for(instruction_of(text), {"SB1"}) == (waits, left)


@pytest.mark.parametrize("text", ["{6}", "{}", "{R1}", "{5,4", "{1,2,3,4,5,0,1}"])
def test_braces_hold_numbers_of_scoreboards_alone(text):
    with pytest.raises(SassError, match="is not supported"):
        instruction_of(f"DEPBAR {text}")


@pytest.mark.parametrize(
    ("text", "left"),
    [("DEPBAR {1,0}", 0), ("DEPBAR.LE SB0, 0x1", 1), ("DEPBAR.LE SB0, 0x1, {0}", 0), ("DEPBAR {1}", None)],
)
def test_groups_of_stores_in_bulk_are_waited_for(text, left):
    """They are counted by scoreboard 0."""
    accesses = []
    await_board(
        SimpleNamespace(store_boards={"SB0"}, access=lambda *given: accesses.append(given)), instruction_of(text)
    )
    assert accesses == ([] if left is None else [("cp.async.bulk.wait_group.read", Immediate(left))])
