"""Pages that explain a run: hostile texts, and what a page is made of."""

from html.parser import HTMLParser

HOSTILE = [
    "</script>", "<script>alert(1)</script>", "<!--", "-->", "]]>", "\u2028\u2029", "&lt;", "&#60;script&#62;",
    "\\u003c", "'\"><img src=x onerror=alert(1)>", "{{7*7}}", "${x}", "@DATA@", "@SCRIPT@", "@TITLE@",
    "javascript:alert(1)", "\0", "\x1b[2J", "\ud800".encode("utf-8","replace").decode(), "a" * 5000, "</style>",
    "<svg/onload=alert(1)>", "//", "*/", "\u202e", "%s", "\\", "`", "\r\n", "<link rel=stylesheet href=//x>",
]  # fmt: skip


class Elements(HTMLParser):
    """The elements of a page with their attributes' names, in order."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, *(name for name, _ in attributes)))
