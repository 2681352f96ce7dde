"""The PTX that writes entries: what stands at the head of a function, and in front of what is recorded.

Its registers are the function's own, and none of its lines calls anything: it may stand between what passes arguments.
Lanes stay together in it: what decides a branch is the same for all that are there.
"""

from collections.abc import Sequence

from simtmm.cuda.instrumentation.layout import (
    ADDRESS_BYTES,
    BLOCKS,
    BUFFER,
    CAPACITY,
    CLAIMED,
    HEAD_BYTES,
    MOST,
    RECORDER,
    RECORDER_WORDS,
    SYMBOLS,
    WARP_BITS,
)

DECLARATION = f".visible .global .align 16 .b64 {RECORDER}[{RECORDER_WORDS}];"

_REGISTERS = """
.reg .pred %simtmm_on, %simtmm_if, %simtmm_p, %simtmm_q;
.reg .b32 %simtmm_lane, %simtmm_here, %simtmm_mask, %simtmm_leader, %simtmm_x, %simtmm_y;
.reg .b64 %simtmm_warp, %simtmm_address, %simtmm_at, %simtmm_s, %simtmm_t, %simtmm_u;"""


def word(number: int) -> str:
    """A word of what the kernel is given, as an address."""
    return f"[{RECORDER}+{8 * number}]"


def head(symbols: Sequence[tuple[int, str]], label: str) -> str:
    """What a function begins with: who the thread is, and whether its block is recorded.

    symbols: numbers and names of those whose addresses its threads write down. label: a name for a place, of its own.
    """
    lines = [
        _REGISTERS,
        "mov.u32 %simtmm_lane, %laneid;",
        "mov.u32 %simtmm_x, %tid.z;",
        "mov.u32 %simtmm_y, %ntid.y;",
        "mul.lo.u32 %simtmm_x, %simtmm_x, %simtmm_y;",
        "mov.u32 %simtmm_y, %tid.y;",
        "add.u32 %simtmm_x, %simtmm_x, %simtmm_y;",
        "mov.u32 %simtmm_y, %ntid.x;",
        "mul.lo.u32 %simtmm_x, %simtmm_x, %simtmm_y;",
        "mov.u32 %simtmm_y, %tid.x;",
        "add.u32 %simtmm_x, %simtmm_x, %simtmm_y;",
        "setp.eq.u32 %simtmm_p, %simtmm_x, 0;",
        "shr.u32 %simtmm_x, %simtmm_x, 5;",
        *_widened("%simtmm_s", "%ctaid.z"),
        *_widened("%simtmm_t", "%nctaid.y"),
        "mul.lo.u64 %simtmm_s, %simtmm_s, %simtmm_t;",
        *_widened("%simtmm_t", "%ctaid.y"),
        "add.u64 %simtmm_s, %simtmm_s, %simtmm_t;",
        *_widened("%simtmm_t", "%nctaid.x"),
        "mul.lo.u64 %simtmm_s, %simtmm_s, %simtmm_t;",
        *_widened("%simtmm_t", "%ctaid.x"),
        "add.u64 %simtmm_s, %simtmm_s, %simtmm_t;",
        f"shl.b64 %simtmm_warp, %simtmm_s, {WARP_BITS};",
        "cvt.u64.u32 %simtmm_t, %simtmm_x;",
        "or.b64 %simtmm_warp, %simtmm_warp, %simtmm_t;",
        f"ld.global.u64 %simtmm_t, {word(BLOCKS)};",
        "shr.u64 %simtmm_u, %simtmm_s, 5;",
        "shl.b64 %simtmm_u, %simtmm_u, 2;",
        "add.u64 %simtmm_t, %simtmm_t, %simtmm_u;",
        "ld.global.u32 %simtmm_x, [%simtmm_t];",
        "cvt.u32.u64 %simtmm_y, %simtmm_s;",
        "and.b32 %simtmm_y, %simtmm_y, 31;",
        "shr.u32 %simtmm_x, %simtmm_x, %simtmm_y;",
        "and.b32 %simtmm_x, %simtmm_x, 1;",
        "setp.ne.u32 %simtmm_on, %simtmm_x, 0;",
    ]
    if symbols:
        lines += [f"@!%simtmm_p bra {label};", f"ld.global.u64 %simtmm_s, {word(SYMBOLS)};"]
        for number, name in symbols:
            lines += [f"mov.u64 %simtmm_t, {name};", f"st.global.u64 [%simtmm_s+{8 * number}], %simtmm_t;"]
        lines.append(f"{label}:")
    return "\n".join([*lines, ""])


def _widened(to: str, special: str) -> list[str]:
    return [f"mov.u32 %simtmm_y, {special};", f"cvt.u64.u32 {to}, %simtmm_y;"]


def entry(site: int, label: str, address: Sequence[str] | None, condition: tuple[Sequence[str], str] = ((), "")) -> str:
    """What stands in front of a site.

    label: a name for the place behind it, of its own. address: lines that leave the address of an access in
    %simtmm_address; None for what is none. condition: lines, and the predicate that they leave, of the threads that
    access memory; "" for all that are here.
    """
    prepared, predicate = condition
    lines = [
        f"\n@!%simtmm_on bra.uni {label};",
        "activemask.b32 %simtmm_here;",
        "bar.warp.sync %simtmm_here;",  # what each lane has claimed before comes before what is claimed now
        *prepared,
    ]
    if predicate:
        lines += [
            f"vote.sync.ballot.b32 %simtmm_mask, {predicate}, %simtmm_here;",
            "setp.eq.u32 %simtmm_q, %simtmm_mask, 0;",
            f"@%simtmm_q bra.uni {label};",
        ]
    else:
        lines.append("mov.b32 %simtmm_mask, %simtmm_here;")
    if address is not None:
        lines += [
            *address,
            "popc.b32 %simtmm_x, %simtmm_mask;",
            f"mul.wide.u32 %simtmm_s, %simtmm_x, {ADDRESS_BYTES};",
            f"add.u64 %simtmm_s, %simtmm_s, {HEAD_BYTES};",
        ]
    else:
        lines.append(f"mov.u64 %simtmm_s, {HEAD_BYTES};")
    lines += [
        "brev.b32 %simtmm_leader, %simtmm_mask;",
        "clz.b32 %simtmm_leader, %simtmm_leader;",
        "setp.eq.u32 %simtmm_p, %simtmm_lane, %simtmm_leader;",
        "mov.u64 %simtmm_at, 0;",
        f"@%simtmm_p atom.global.add.u64 %simtmm_at, {word(CLAIMED)}, %simtmm_s;",
        "mov.b64 {%simtmm_x, %simtmm_y}, %simtmm_at;",
        "shfl.sync.idx.b32 %simtmm_x, %simtmm_x, %simtmm_leader, 31, %simtmm_here;",
        "shfl.sync.idx.b32 %simtmm_y, %simtmm_y, %simtmm_leader, 31, %simtmm_here;",
        "mov.b64 %simtmm_at, {%simtmm_x, %simtmm_y};",
        f"ld.global.u64 %simtmm_t, {word(MOST)};",
        "setp.gt.u64 %simtmm_q, %simtmm_at, %simtmm_t;",
        "@%simtmm_q exit;",
        f"ld.global.v2.u64 {{%simtmm_t, %simtmm_u}}, {word(BUFFER)};",  # and its capacity
        "add.u64 %simtmm_s, %simtmm_at, %simtmm_s;",
        "setp.gt.u64 %simtmm_q, %simtmm_s, %simtmm_u;",
        f"@%simtmm_q bra.uni {label};",
        "add.u64 %simtmm_at, %simtmm_at, %simtmm_t;",
        f"mov.u32 %simtmm_x, {site};",
        "mov.b64 %simtmm_s, {%simtmm_x, %simtmm_mask};",
        "@%simtmm_p st.global.u64 [%simtmm_at], %simtmm_s;",
        "@%simtmm_p st.global.u64 [%simtmm_at+8], %simtmm_warp;",
    ]
    if address is not None:
        guard = f"@{predicate} " if predicate else ""
        lines += [
            "mov.u32 %simtmm_x, %lanemask_lt;",
            "and.b32 %simtmm_x, %simtmm_x, %simtmm_mask;",
            "popc.b32 %simtmm_x, %simtmm_x;",
            f"mad.wide.u32 %simtmm_at, %simtmm_x, {ADDRESS_BYTES}, %simtmm_at;",
            f"{guard}st.global.u64 [%simtmm_at+{HEAD_BYTES}], %simtmm_address;",
        ]
    return "\n".join([*lines, f"{label}:", ""])


assert BUFFER % 2 == 0, "the buffer and its capacity are loaded as a vector: they stand at a multiple of 16 bytes"
assert CAPACITY == BUFFER + 1
