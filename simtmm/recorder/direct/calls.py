"""The calls that a trace lists of a program: their names, and the values of each, for who writes and who reads them."""

LAUNCH, COPY, FILL, FETCH, TAKE_BACK = "launch", "copy", "fill", "fetch", "take_back"
ALLOCATE, ALLOCATE_PINNED, FREE, FREE_PINNED = "allocate", "allocate_pinned", "free", "free_pinned"
SYNCHRONIZE, SYNCHRONIZE_STREAM, MARK, WAIT = "synchronize", "synchronize_stream", "mark", "wait"
QUERY = "query"  # by which the host has learned that something has ended
ALLOCATIONS = (ALLOCATE, ALLOCATE_PINNED, FREE, FREE_PINNED)  # by the runtime's numbers
VALUES = {
    LAUNCH: ("kernel", "shape", "is_recorded", "stream", "follows_in_graph"),
    COPY: ("stream", "direction", "size", "is_pinned", "is_awaited", "host", "device"),
    FILL: ("stream", "size"), FETCH: ("stream", "size", "move"), TAKE_BACK: ("size",),
    ALLOCATE: ("size",), ALLOCATE_PINNED: ("size",), FREE: ("size",), FREE_PINNED: ("size",),
    SYNCHRONIZE: ("mark",), SYNCHRONIZE_STREAM: ("stream",), MARK: ("stream", "mark"), WAIT: ("stream", "mark"),
    QUERY: (),
}  # fmt: skip
LEAST = {COPY: 5}  # values of a call that traces of earlier versions have; all where it is left out
UNKNOWN = -1  # where memory lies
