"""`python -m simtmm` without the working directory, in which other people's files may lie, on the path of imports.

It is looked at before anything else of simtmm is imported, and imports nothing that Python has not loaded by then.
"""

import os
import sys


def leave_working_directory(package: str) -> None:
    """Take the working directory from the path where `-m` has put it there for this package.

    The package itself is found all the same: where it lies in the working directory, as a checkout may, that folder
    comes last, behind Python's own modules and those that are installed.

    package: the folder that the package lies in.
    """
    if not _is_run_as_module():
        return
    try:
        here = os.getcwd()
    except OSError:  # it was removed, and Python has put nothing there
        return
    if sys.path[:1] == [here]:
        del sys.path[0]
        if package not in sys.path:
            sys.path.append(package)


def _is_run_as_module() -> bool:
    """Whether Python is about to run this package for `-m`: its first word is a placeholder meanwhile."""
    if sys.argv[:1] != ["-m"] or sys.flags.safe_path:
        return False
    module = sys.orig_argv[-len(sys.argv)].removeprefix("-m")  # its own words stand behind it
    return module == "simtmm" or module.startswith("simtmm.")
