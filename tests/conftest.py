"""For all tests."""

import os

from hypothesis import settings

from simtmm.files import cache_folder

# Tests that have a cache of their own are not about compiled code, which takes long to make anew.
os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder() / "tests"))

# How long an example takes depends on what else the machine does, which is no finding about the code.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
