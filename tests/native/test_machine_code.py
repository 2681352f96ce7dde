"""Object code is loaded wherever a process has room, however much it holds already."""

import subprocess
import sys

import pytest

CODE = """
@counts = internal global [4096 x i64] zeroinitializer
@values = internal constant [4 x double] [double 1.0, double 2.5, double 3.0, double 4.0]
define i64 @simtmm_entry(i64 %i) {
  %place = getelementptr [4096 x i64], ptr @counts, i64 0, i64 %i
  %before = load i64, ptr %place
  %after = add i64 %before, 1
  store i64 %after, ptr %place
  %other = getelementptr [4 x double], ptr @values, i64 0, i64 %i
  %value = load double, ptr %other
  %whole = fptosi double %value to i64
  %sum = add i64 %whole, %after
  ret i64 %sum
}
"""
HOLDING = f"""
import ctypes, mmap
from simtmm.native.machine_code import ENTRY, QUICK, loaded, object_code

code, held = object_code('''{CODE}''', QUICK), []
for number in range(100):
    engine = loaded(code)
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(engine.get_function_address(ENTRY))
    assert (function(1), function(1)) == (3, 4)
    # Room that is taken, but not touched: gigabytes lie between what is loaded now and what is next, with gaps
    size = 3 << 30 if number % 3 else 5 * 4096
    held += [engine, mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | {0x4000:#x})]
"""


@pytest.mark.skipif(sys.platform != "linux", reason="takes room without memory, as Linux has it")
def test_code_is_loaded_by_a_process_that_holds_gigabytes():
    """Distances of 32 bits ended the process before the last of these."""
    done = subprocess.run([sys.executable, "-c", HOLDING], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
