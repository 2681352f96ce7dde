"""The fast tests on each Python that is installed here: `nox`, or `nox -s fast-3.13` for one of them.

Interpreters that are not there are skipped; those of pyenv are found once `pyenv global` or PYENV_VERSION names them.
"""

import nox

nox.options.default_venv_backend = "venv"


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def fast(session: nox.Session) -> None:
    """Install simtmm with what its tests need, and run the tests that take under a minute, or those that are named."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "pytest", "-q", *(session.posargs or ["--fast"]))
