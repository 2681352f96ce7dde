"""Benchmarks are tests as well, of less, where no times are taken."""

import pytest


@pytest.fixture
def sized(benchmark):
    """Choose one of two sizes: the full one where times are taken, else the small one, which asserts the same."""
    return lambda full, small: full if benchmark.enabled else small
