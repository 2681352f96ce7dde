from tests.cli.conftest import called as called
