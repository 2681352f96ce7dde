"""A source that uses every macro of device.cuh, and the host program that records it."""

from pathlib import Path

from tests.recorder.build import host

EVERY_MACRO = Path(__file__).with_name("every_macro.cu").read_text()

ARRAYS = (
    '{"a": np.full(8, 5, np.int32), "u": np.full(8, 5, np.uint32), "w": np.full(8, 5, np.uint64), '
    '"x": np.full(8, 5, np.float32), "d": np.full(8, 5.0)}'
)
LAUNCH = 'yield Launch("every_macro", ("a", "u", "w", "x", "d", 4), grid=2, block=4, shared_memory_bytes=3 * 8 * 4)'
HOST = host(arrays=ARRAYS, launches=LAUNCH) + '\n\ndef defines(p):\n    return {"ARRAY_SIZE": 8}\n'
