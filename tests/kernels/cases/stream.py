OPERATIONS = ("init", "read", "scale", "triad", "stencil3", "stencil5")

ODD = [
    {"operation": operation, **sizes}
    for operation in OPERATIONS
    for sizes in ({"n": 1}, {"n": 2, "threads": 1}, {"n": 1000, "threads": 96}, {"n": 64, "threads": 1024})
]

EVENTS = [{"n": n, "operation": operation} for n in (77, 640) for operation in OPERATIONS]


def events(n, operation="triad", **_):
    return n * {"init": 1, "read": 2, "scale": 3, "triad": 6, "stencil3": 6, "stencil5": 8}[operation]


MISTAKES = [
    ("x + y * z", "x - y * z", {"operation": "triad"}),
    ("scalar * x", "scalar + x", {"operation": "scale"}),
    ("ST(a, i, scalar);", "ST(a, i, -scalar);", {"operation": "init"}),
    ("x == -1234.0) ST(a, i, x)", "x != -1234.0) ST(a, i, -x)", {"operation": "read"}),
    ("0.25 * (west + east) + 0.5", "0.25 * (west - east) + 0.5", {"operation": "stencil3"}),
    ("0.375 * centre", "0.375 / centre", {"operation": "stencil5"}),
    ("if (i < n) ST", "if (i + 1 < n) ST", {"operation": "init"}),
]
