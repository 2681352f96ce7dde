"""Trees of Python's text: whatever reads one at the same time, and whatever the collector of garbage runs meanwhile."""

import ast
import gc
import inspect
import sys
import threading

import pytest

from simtmm.python_text import parsed, parsed_expression


def test_a_text_is_the_tree_that_python_makes_of_it():
    assert ast.dump(parsed("a = 1\nb = a")) == ast.dump(ast.parse("a = 1\nb = a"))
    assert ast.dump(parsed_expression("a + 1")) == ast.dump(ast.parse("a + 1", mode="eval").body)
    with pytest.raises(SyntaxError, match="never closed") as caught:
        parsed("a = (", "some.py")
    assert caught.value.filename == "some.py"


def test_several_threads_read_texts_at_once():
    """Without turns, CPython 3.11 ends in a SystemError here: nearly each time, with a callback of the collector."""
    text, failed = inspect.getsource(threading), []

    def read(depth):
        if depth:
            return read(depth - 1)
        try:
            for _ in range(5):
                parsed(text)
        except SystemError as error:
            failed.append(error)
        return None

    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    threads = [threading.Thread(target=read, args=(50 * number,)) for number in range(4)]

    def callback(*_):
        sum(range(50))

    gc.callbacks.append(callback)
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.callbacks.remove(callback)
        sys.setswitchinterval(interval)
        gc.set_threshold(*threshold)
    assert failed == []
