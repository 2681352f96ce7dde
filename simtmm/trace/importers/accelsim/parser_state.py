"""What the parser of an Accel-Sim kernel trace knows between two lines, and the errors that it can find."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from typing import Annotated, Any, NamedTuple

import numpy as np

from simtmm.native import Columns, inlined
from simtmm.trace.importers.warps import Operations

MOST_REGISTERS = 16  # that one line lists
ZERO_REGISTER = 255
WIDEST = 128  # bytes of an access
NO_SITE = 255  # the kind of a site that nothing comes from

MORE_TEXT, MORE_ROOM, FULL, NEW_OPCODE, WRONG = range(5)  # what a call returns
OUTSIDE, BEGUN, IN_BLOCK, IN_WARP, INSTRUCTIONS = range(5)  # phases: what the next line must be

FAILED, UNKNOWN_OPCODE = -1, -2  # what is given in the place of a position: after an error; before a new opcode

State = Columns(
    "phase line block block_x block_y block_z warp left last_pc run_mask run_length run_site error at next",
)
Configuration = Columns(
    "version lineinfo grid_x grid_y grid_z threads shared_base local_window shared_end local_end first_site",
    "shared_site most_events",
)

# Errors, by number: what was expected; {warp} is the state's
EXPECTED = (
    "'#BEGIN_TB'",
    "'thread block = x,y,z'",
    "a thread block within the grid",
    "'warp = w' or '#END_TB'",
    "a warp within the thread block",
    "a warp that the thread block has not had",
    "'insts = n'",
    "the thread block and the warp that the line stands in (versions before 3)",
    "a line number",
    "a program counter, hexadecimal",
    "a program counter that was there when the file was first read",
    "a mask of 32 lanes, hexadecimal",
    "a mask of lanes within the thread block",
    f"a number of registers from 0 to {MOST_REGISTERS}",
    "a register from R0 to R255",
    "an opcode",
    f"a width from 0 to {WIDEST} bytes",
    "an address mode: 0 (list), 1 (base and stride) or 2 (base and deltas)",
    "an address below 2^60, hexadecimal",
    "a stride, decimal",
    "adjacent lanes for a base and a stride",
    "a delta for each active lane but the first, decimal",
    "an immediate, the last word of a line of version 5",
    "the end of the line",
    "warp {warp} of the thread block before its end",
)
(
    E_BEGIN, E_BLOCK, E_GRID, E_WARP, E_WARPS, E_TWICE, E_INSTRUCTIONS, E_WHERE, E_LINEINFO, E_PC, E_CHANGED, E_MASK,
    E_LANES, E_COUNT, E_REGISTER, E_OPCODE, E_WIDTH, E_MODE, E_ADDRESS, E_STRIDE, E_ADJACENT, E_DELTA, E_IMMEDIATE,
    E_END, E_MISSING,
) = (np.int64(number) for number in range(len(EXPECTED)))  # fmt: skip


class Reader(NamedTuple):
    """All that a call needs but the text."""

    configuration: Annotated[Any, Configuration]
    state: Annotated[Any, State]
    pcs: Any  # int64: the kernel's program counters, ascending
    pc_opcode: Any  # int64, of each of these: its opcode's number
    pc_line: Any  # int64, likewise: its line in the source, 0 where that is not known
    site_kind: Any  # uint8[sites]: what comes from the site, or NO_SITE
    opcode_hash: Any  # int64[2^k], a hash table of opcodes
    opcode_number: Any  # int64[2^k]; -1 where the place is free
    opcode_class: Any  # int64, by number
    opcode_count: Any  # int64, by number: how many instructions of warps have it
    bare: Any  # uint8, by number: whether the opcode, of an access to memory, came without addresses
    pending: Any  # int64[256]: lanes for which an async that writes the register may be in flight
    writer: Any  # int64[256, LANES]: the latest such async, counted from 1 for each lane
    issued: Any  # int64[LANES]: asyncs of the lane so far
    joined: Any  # int64[LANES]: those that have been waited for
    addresses: Any  # int64[LANES], by lane
    registers: Any  # int64[2, MOST_REGISTERS]: destinations, sources
    operations: Operations


@inlined
def wrong(r, error, position):
    """Note an error, and where it is."""
    r.state.error = error
    r.state.at = position
    return FAILED
