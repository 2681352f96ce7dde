ODD = [
    {"pattern": pattern, **sizes}
    for pattern in ("offset", "stride")
    for sizes in (
        {"n": 1},
        {"n": 2, "threads": 1, "offset": 0, "stride": 1},
        {"n": 1000, "threads": 96, "offset": 17, "stride": 33, "seed": 1},
        {"n": 64, "threads": 1024, "offset": 32, "stride": 2},
    )
]

EVENTS = [{"n": n, "pattern": pattern} for n in (77, 640) for pattern in ("offset", "stride")]


def events(n, **_):
    return 2 * n  # a load and a store


MISTAKES = [
    ("i + offset", "i", {"pattern": "offset"}),
    ("i * stride", "i * (stride - 1)", {"pattern": "stride"}),
    ("ST(output, strided, value);", "ST(output, strided, -value);", {"pattern": "stride"}),
]
