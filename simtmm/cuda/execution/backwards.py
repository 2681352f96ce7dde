"""The runtime with warps in descending order of their turns, to see what depends on their order."""

_CHANGES = (
    (
        "  %skipped = mul i64 %from.64, %stride\n",
        "  %last = sub i32 %warps, 1\n  %last.64 = zext i32 %last to i64\n  %mirrored = sub i64 %last.64, %from.64\n"
        "  %skipped = mul i64 %mirrored, %stride\n",
    ),
    (
        "  store i32 %n, ptr %running.at\n",
        "  %last.n = sub i32 %warps, 1\n  %own = sub i32 %last.n, %n\n  store i32 %own, ptr %running.at\n",
    ),
    (
        "%warp.next = getelementptr i8, ptr %warp, i64 %stride\n  %more = icmp ult i32 %n.next, %warps\n"
        "  br i1 %more, label %each, label %went",
        "%back = sub i64 0, %stride\n  %warp.next = getelementptr i8, ptr %warp, i64 %back\n"
        "  %more = icmp ult i32 %n.next, %warps\n  br i1 %more, label %each, label %went",
    ),
)


def backward_runtime(text: str) -> str:
    """runtime.ll, changed so that the warps of a block have their turns from the last to the first."""
    for before, after in _CHANGES:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text
