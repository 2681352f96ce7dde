"""python -m tests.notebooks: execute the notebooks and compare; with --write, store what they give."""

import sys

from tests.notebooks.comparison import differences, write
from tests.notebooks.execution import notebooks

if __name__ == "__main__":
    found = []
    for path in notebooks():
        if sys.argv[1:] == ["--write"]:
            write(path)
        else:
            found += differences(path)
    print("\n".join(found) or f"{len(notebooks())} notebooks: as they are stored")
    sys.exit(bool(found))
