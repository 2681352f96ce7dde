"""For tests of functions beside the command line."""

from tests.cli.conftest import called as called
