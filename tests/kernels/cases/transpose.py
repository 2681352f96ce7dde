WAYS = [{"way": "naive"}, {"way": "tiled"}, {"way": "tiled", "padding": 0}]

ODD = [
    {**way, **sizes}
    for way in WAYS
    for sizes in (
        {"n": 1},
        {"n": 1, "columns": 5, "side": 1},  # a thread a block
        {"n": 37, "columns": 50, "side": 8, "seed": 3},
        {"n": 70, "columns": 33, "side": 32},  # 1024 threads a block
    )
]

EVENTS = [{**way, **sizes} for way in WAYS for sizes in ({"n": 24, "columns": 16, "side": 8}, {"n": 11, "columns": 30})]


def events(n, columns, way, side=16, **_):
    if way == "naive":
        return 2 * n * columns
    blocks = -(-n // side) * -(-columns // side)
    return 4 * n * columns + blocks * side**2  # an element: to shared memory and back; a thread: a barrier


MISTAKES = [
    ("column * rows + row, value", "row * columns + column, value", {"way": "naive"}),
    ("threadIdx.x * PITCH + threadIdx.y", "threadIdx.y * PITCH + threadIdx.x", {}),
    ("SYNC();  // the tile is there", "", {}),
    ("(row < rows && column < columns) {  // of the tile", "(row < rows && column + 1 < columns) {", {"n": 30}),
]
