"""How values show and draw themselves in a notebook: by report, which is imported when they do.

Everywhere else imports point up the house. This is the one door to the rooms above; pyproject.toml names it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simtmm.report.notebook.picture import Picture


class Displayed:
    """A value that Jupyter shows as the command line reports it, in tables of HTML."""

    def _repr_html_(self) -> str:
        from simtmm.report.notebook.html import html_of

        return html_of(self)


def drawn(value: Displayed, **options: Any) -> "Picture":
    """A picture of a value, as its class has them. Raises OutputError, where matplotlib is not installed too."""
    from simtmm.report.notebook.picture import picture_of

    return picture_of(value, **options)
