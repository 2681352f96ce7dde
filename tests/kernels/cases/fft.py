ODD = [
    {"n": 2, "threads": 1},
    {"n": 3, "threads": 1024},  # 4 points, 2 threads of 1024 at work
    {"n": 5, "threads": 3},
    {"n": 1000, "threads": 96, "seed": 2},
    {"n": 4096, "threads": 1024},
]

EVENTS = [{"n": 2}, {"n": 128, "threads": 17}, {"n": 300}]


def events(n, **_):
    stages = (n - 1).bit_length()
    # A butterfly: 2 asyncs, join, work, 2 stores; half as many as points in each stage.
    return stages * 2**stages // 2 * 6


MISTAKES = [
    ("-3.14159265f * k", "3.14159265f * k", {}),  # the inverse transform
    ("c * v.x - s * v.y", "c * v.x + s * v.y", {}),
    ("c * v.y + s * v.x", "c * v.y - s * v.x", {}),
    ("ST(after, at + width, make_float2(u.x - t.x", "ST(after, at + width, make_float2(u.x + t.x", {}),
]
