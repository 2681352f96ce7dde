"""The page as a widget of a notebook: the same script and style, which talk by the notebook's own channel."""

from typing import Any

from simtmm.explorer.page_files import script, style
from simtmm.explorer.sending import sender
from simtmm.explorer.session import Session
from simtmm.explorer.start import Start


def widget(start: Start) -> Any:
    """The widget, an `anywidget.AnyWidget`, whose `state` is the text of an address. Raises ImportError without it."""
    import anywidget
    import traitlets

    class Explorer(anywidget.AnyWidget):
        _esm = script()
        _css = style()
        start = traitlets.Dict().tag(sync=True)
        state = traitlets.Unicode().tag(sync=True)

        def __init__(self, begun: Start) -> None:
            super().__init__(start=begun.to_dict(), state=begun.state)
            self._session = Session(begun.programs, sender(self._write), begun.program, begun.machine)
            self.on_msg(self._asked)

        def _write(self, text: str) -> None:
            self.send({"text": text})

        def _asked(self, _: Any, content: Any, __: Any) -> None:
            if isinstance(content, dict) and isinstance(content.get("number"), int):
                self._session.ask(content["number"], str(content.get("state", "")))

        def close(self) -> None:
            """End what is being computed, and take the widget away."""
            self._session.close()
            super().close()

    return Explorer(start)
