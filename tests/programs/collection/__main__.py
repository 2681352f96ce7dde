"""python -m tests.programs.collection KERNEL TIMER: the text of a program."""

import sys

from tests.programs.collection import KERNELS, TIMERS, program

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in KERNELS or sys.argv[2] not in TIMERS:
        sys.exit(f"python -m tests.programs.collection KERNEL TIMER: one of {', '.join(KERNELS)}; {', '.join(TIMERS)}")
    print(program(sys.argv[1], sys.argv[2]), end="")
