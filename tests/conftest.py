"""For all tests."""

from hypothesis import settings

# How long an example takes depends on what else the machine does, which is no finding about the code.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
