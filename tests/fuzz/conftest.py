"""For all kinds of input: a file that is written anew for each example."""

import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder for the files of a module's examples."""
    return tmp_path_factory.mktemp("fuzz")
