WAYS = [{"layout": layout, "filtering": how} for layout in ("rows", "tiles") for how in ("nearest", "linear")]

ODD = [
    {**way, **sizes}
    for way in WAYS
    for sizes in (
        {"n": 1},
        {"n": 37, "tile": 5, "angle": 301.5, "width": 7, "height": 3, "seed": 3},
        {"n": 50, "tile": 64, "angle": 90.0, "width": 32, "height": 32},
    )
]

EVENTS = [{**way, "n": n} for way in WAYS for n in (16, 21)]


def events(n, layout, filtering):
    # An element: a read and a store, or four reads and a wait for them.
    return n**2 * (2 if filtering == "nearest" else 6)


MISTAKES = [
    ("cosine * (x - middle) - sine", "cosine * (x - middle) + sine", {}),
    ("row % TILE * TILE + column % TILE", "column % TILE * TILE + row % TILE", {}),
    ("return row * n + column;", "return column * n + row;", {"layout": "rows"}),
    ("u >> 8 & 255, of_v", "u >> 9 & 127, of_v", {"filtering": "linear"}),
    ("(u + ONE / 2) >> 16", "u >> 16", {}),
]
