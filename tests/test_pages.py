"""Examples of pages: commands that exist, Python and tables that can be read. `python -m tests.pages` executes them."""

import re
import tomllib

import pytest
import typer.main

from simtmm.cli import app
from tests.pages.examples import BLOCK, PAGES, commands, files, python

APP = typer.main.get_command(app())
COMMANDS = [command for page in PAGES for command in commands(page)]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: f"{command.page}-{command.text[:40]}")
def test_a_command_has_words_that_are_known(command):
    """Its verb and options; what it then does is for `python -m tests.pages`."""
    context = APP.make_context("simtmm", [], resilient_parsing=True)
    _, verb, rest = APP.resolve_command(context, list(command.words))
    verb.make_parser(verb.context_class(verb, parent=context)).parse_args(
        rest
    )  # which raises for what it does not know


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lines_of_python_can_be_compiled(page):
    for lines in python(page):
        compile(lines, page.name, "exec")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_can_be_read(page):
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "toml":
            assert tomllib.loads(text)


def test_pages_are_read_whole():
    verbs = {command.words[0] for command in COMMANDS}
    assert len(COMMANDS) > 90
    assert {"run", "record", "sweep", "tune", "diff", "paper", "machines", "kernels"} <= verbs
    assert sum(command.shown is not None for command in COMMANDS) > 20
    assert {"saxpy.cu", "launches.toml"} <= {name for page in PAGES for name in files(page)}
    assert re.search(r"reverse\.cu", str([command.text for command in COMMANDS if command.page == "cuda-programs.md"]))
