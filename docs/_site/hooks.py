"""What MkDocs must know of the pages beyond mkdocs.yml: pages outside docs/, notebooks, and links that leave the site.

Pages are written to be read as files of the project. On the site README.md is the first page, a notebook is a page, and
what is no page (a module, a machine's file) is named without a link.
"""

import json
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parent))  # a hook is no part of a package

from notebook_page import markdown_of  # noqa: E402 - found by the line above

OF_ROOT = {"README.md": "index.md", "CONTRIBUTING.md": "", "DEVIATIONS.md": "", "CHANGELOG.md": ""}
PAGES = {name: page or name for name, page in OF_ROOT.items()}  # of the site, by the name of the project's file
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the pages that no section of the navigation names."""
    named = set(re.findall(r"[\w./-]+\.md", json.dumps(config.nav)))
    others = sorted(path.name for path in (ROOT / "docs").glob("*.md") if path.name not in named)
    if others and config.nav:
        config.nav.append({"More": others})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the project's root, and a page for each notebook."""
    for name, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text(encoding="utf-8")))
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=markdown_of(path)))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """Links and pictures lead to the site's pages and files; a link to what has none becomes its name."""
    where = page.file.src_uri
    original = next((name for name, known in PAGES.items() if known == where), f"docs/{where}")
    known = {file.src_uri for file in files}

    def led(link: re.Match[str]) -> str:
        mark, words, target, place = link.groups()
        if "://" in target:
            return link[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(original), target))
        there = PAGES.get(path) or path.removeprefix("docs/").replace(".ipynb", ".md")
        if mark and there not in known:
            return link[0]
        if there not in known:  # what is nowhere stays a link, which MkDocs finds
            return (words if words.startswith("`") else f"`{words}`") if (ROOT / path).exists() else link[0]
        return f"{mark}[{words}]({posixpath.relpath(there, posixpath.dirname(where) or '.')}{place or ''})"

    return LINK.sub(led, markdown)
