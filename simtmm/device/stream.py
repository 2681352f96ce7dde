"""What distinguishes streams."""

from collections.abc import Hashable

DEFAULT_STREAM = 0

Stream = Hashable
"""A stream; DEFAULT_STREAM is the default one, which all others wait for."""
