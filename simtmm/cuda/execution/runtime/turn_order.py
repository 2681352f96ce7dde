"""The order in which blocks, the warps of a block, and the lanes of an atomic operation take turns.

A GPU promises no order. A launch runs in ascending order; running it in another order shows what depends on it.
"""

from collections.abc import Iterator

import numpy as np

from simtmm.cuda.execution.layout import BLOCK, NEW_WARP

ASCENDING, DESCENDING, SHUFFLED = "ascending", "descending", "shuffled"
ORDERS = (ASCENDING, DESCENDING, SHUFFLED)

_CHANGES = (
    ("  %warp = phi ptr [ %start, %round ], [ %warp.next, %next ]\n", ""),
    (
        "  %yielded = phi i1 [ false, %round ], [ %yielded.next, %next ]\n",
        "  %yielded = phi i1 [ false, %round ], [ %yielded.next, %next ]\n"
        "  %own = call i32 @warp.at(ptr %block, i32 %n, i32 %warps, i32 %left.all)\n"
        "  %own.64 = zext i32 %own to i64\n  %own.skipped = mul i64 %own.64, %stride\n"
        "  %warp = getelementptr i8, ptr %first, i64 %own.skipped\n",
    ),
    ("  store i32 %n, ptr %running.at\n", "  store i32 %own, ptr %running.at\n"),
    (f"i32 {NEW_WARP}, i64 0, i32 %n)\n", f"i32 {NEW_WARP}, i64 0, i32 %own)\n"),
    (
        "  %warp.next = getelementptr i8, ptr %warp, i64 %stride\n  %more = icmp ult i32 %n.next, %warps\n"
        "  br i1 %more, label %each, label %went",
        "  %more = icmp ult i32 %n.next, %warps\n  br i1 %more, label %each, label %went",
    ),
)
_LAST_FIRST = """
define internal i32 @warp.at(ptr %block, i32 %n, i32 %warps, i32 %round) alwaysinline {
  %last = sub i32 %warps, 1
  %own = sub i32 %last, %n
  ret i32 %own
}
"""
assert BLOCK.fields is not None
_NUMBER = BLOCK.fields["number"][1]
# A permutation of as many numbers as a power of two has, walked until a number is a warp's: another one in each round.
_SHUFFLED = f"""
define internal i32 @warp.at(ptr %block, i32 %n, i32 %warps, i32 %round) noinline {{
entry:
  %number.at = getelementptr i8, ptr %block, i64 {_NUMBER}
  %number = load i64, ptr %number.at
  %low = trunc i64 %number to i32
  %a = mul i32 %low, 1640531527
  %b = mul i32 %round, -2048144789
  %ab = xor i32 %a, %b
  %high = lshr i32 %ab, 15
  %c = xor i32 %ab, %high
  %seed = mul i32 %c, 739982445
  %factor = or i32 %seed, 1
  %shift = lshr i32 %seed, 16
  %last = sub i32 %warps, 1
  %some = or i32 %last, 1
  %zeros = call i32 @llvm.ctlz.i32(i32 %some, i1 true)
  %mask = lshr i32 -1, %zeros
  br label %walk
walk:
  %x = phi i32 [ %n, %entry ], [ %y, %walk ]
  %product = mul i32 %x, %factor
  %sum = add i32 %product, %shift
  %within = and i32 %sum, %mask
  %half = lshr i32 %within, 1
  %mixed = xor i32 %within, %half
  %again = mul i32 %mixed, %factor
  %y = and i32 %again, %mask
  %is.warp = icmp ult i32 %y, %warps
  br i1 %is.warp, label %found, label %walk
found:
  ret i32 %y
}}
"""


def ordered_runtime(text: str, order: str) -> str:
    """runtime.ll, changed so that the warps of a block take turns in an order of ORDERS."""
    if order == ASCENDING:
        return text
    for before, after in _CHANGES:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text + (_LAST_FIRST if order == DESCENDING else _SHUFFLED)


def blocks_in(order: str, count: int) -> Iterator[int]:
    """The numbers of so many blocks in an order of ORDERS."""
    if order == SHUFFLED:
        yield from np.random.default_rng(count).permutation(count).tolist()
    else:
        yield from range(count) if order == ASCENDING else reversed(range(count))
