"""What the pages name is there: files of the project, modules and what they hold."""

import importlib
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(path for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")) if path.name != "CHANGELOG.md")
FOLDERS = "simtmm|tests|kernels|machines|traces|docs"
# Kernels that a page tells the reader to write, and what it has commands write.
THEIRS = {"kernels/dot-product", "kernels/NAME", "machines/NAME.toml", "traces/NAME.parquet", "traces/MACHINE"}


def named(page, pattern):
    return sorted(set(re.findall(pattern, page.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_are_there(page):
    paths = [path.rstrip("./") for path in named(page, rf"(?<![\w/.-])(?:{FOLDERS})/[\w./-]*\w")]
    missing = [path for path in paths if "NAME" not in path and not (ROOT / path).exists()]
    assert [path for path in missing if not any(path.startswith(theirs) for theirs in THEIRS)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_that_a_page_names_are_there(page):
    for dotted in named(page, r"(?<![\w/.-])simtmm(?:\.[A-Za-z_]\w*)+"):
        found = importlib.import_module("simtmm")
        for number, part in enumerate(dotted.split(".")[1:], start=1):
            if not hasattr(found, part):
                importlib.import_module(
                    ".".join(dotted.split(".")[: number + 1])
                )  # an ImportError names what is not there
            found = getattr(found, part)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_imports_that_a_page_shows_work(page):
    for module, names in named(page, r"(?m)^from (simtmm[\w.]*) import ([\w, ]+)$"):
        exec(f"from {module} import {names}", {})


def test_extras_that_are_named_are_there():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    texts = [path.read_text(encoding="utf-8") for path in (*PAGES, *(ROOT / "simtmm").rglob("*.py"))]
    told = {name for text in texts for names in re.findall(r"'\.\[([\w,]+)\]'", text) for name in names.split(",")}
    told |= {name for text in texts for name in re.findall(r"\binstall\([\"'](\w+)[\"']\)", text)}
    assert {"compile", "plot", "cuda12", "xarray"} <= told
    assert told <= set(extras)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_that_a_page_links_to_are_there(page):
    links = [link.split("#")[0] for link in named(page, r"\]\(([^)\s]+)\)") if "://" not in link]
    assert [link for link in links if link and not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tests_that_a_page_names_are_there(page):
    missing = [
        f"{path}::{test}"
        for path, test in named(page, r"(tests/[\w/]+\.py)::(\w+)")
        if f"\ndef {test}(" not in (ROOT / path).read_text(encoding="utf-8")
    ]
    assert missing == []
