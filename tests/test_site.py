"""The pages as a site: what a link or a picture of a page leads to there."""

import importlib.util
import re
from types import SimpleNamespace

import pytest

from tests.pages.examples import ROOT

pytest.importorskip("mkdocs")


@pytest.fixture
def on_the_site():
    """A function that gives a page's text as the site has it."""
    specification = importlib.util.spec_from_file_location("site_hooks", ROOT / "docs" / "_site" / "hooks.py")
    hooks = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(hooks)
    files = [*hooks.PAGES.values(), *(str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.*"))]
    known = [SimpleNamespace(src_uri=name) for name in files]
    return lambda text, name: hooks.on_page_markdown(text, SimpleNamespace(file=SimpleNamespace(src_uri=name)), known)


@pytest.mark.parametrize(
    ("page", "text", "expected"),
    [
        ("index.md", "![a page](docs/explained.png)", "![a page](explained.png)"),
        ("index.md", "[why](docs/why.md#what-binds)", "[why](why.md#what-binds)"),
        ("why.md", "[first](../README.md)", "[first](index.md)"),
        ("accuracy.md", "![all](accuracy/glance.png)", "![all](accuracy/glance.png)"),
        ("index.md", "[columns](simtmm/trace/schema.py)", "`columns`"),
        ("index.md", "![none](docs/none.png)", "![none](docs/none.png)"),
    ],
)
def test_a_link_or_a_picture_leads_to_the_site_s_file(on_the_site, page, text, expected):
    assert on_the_site(text, page) == expected


def test_the_first_page_has_all_its_pictures(on_the_site):
    text = on_the_site((ROOT / "README.md").read_text(encoding="utf-8"), "index.md")
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert pictures
    assert all((ROOT / "docs" / name).is_file() for name in pictures)
