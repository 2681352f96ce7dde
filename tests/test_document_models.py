"""Documents as models of pydantic: one line for what is wrong, with file, table, key, value and what is allowed."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict

from simtmm.documents.models import document_of, must_be, whole
from simtmm.errors import KernelError


class Row(BaseModel):
    model_config = ConfigDict(extra="forbid")
    size: Annotated[int, whole(1, 8)]


class Document(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, must_be("a word", lambda value: isinstance(value, str))] = "none"
    row: list[Row] = []
    texts: dict[str, Annotated[str, must_be("a text", lambda value: isinstance(value, str))]] = {}


def read(tables: dict[str, Any]) -> Document:
    return document_of(Document, tables, "f.toml", KernelError)


def test_what_is_right_is_read():
    document = read({"name": "a", "row": [{"size": 8}], "texts": {"x": "y"}})
    assert (document.name, document.row[0].size, document.texts) == ("a", 8, {"x": "y"})


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"name": 3}, "f.toml: name = 3: must be a word"),
        ({"texts": {"x": 3}}, "f.toml: texts.x = 3: must be a text"),
        ({"texts": 3}, "f.toml: texts = 3: must be a table"),
        ({"row": [{"size": 1}, {"size": 9}]}, "f.toml: row[1]: size = 9: must be a whole number from 1 to 8"),
        ({"row": [{"size": True}]}, "f.toml: row[0]: size = True: must be a whole number from 1 to 8"),
        ({"row": [{}]}, "f.toml: row[0]: 'size' is missing"),
        ({"row": [{"size": 1, "sise": 1}]}, "f.toml: row[0]: unknown key 'sise'; did you mean 'size'?"),
        ({"name": 3, "nane": "a"}, "f.toml: unknown key 'nane'; did you mean 'name'?"),
    ],
)
def test_what_is_wrong_is_one_line(tables, said):
    with pytest.raises(KernelError) as caught:
        read(tables)
    assert str(caught.value) == said


def test_a_path_in_json_is_one_key():
    with pytest.raises(KernelError, match=r"^f\.json: row\[1\]\.size = 9: must be a whole number from 1 to 8$"):
        document_of(Document, {"row": [{"size": 1}, {"size": 9}]}, "f.json", KernelError, is_json=True)
    with pytest.raises(KernelError, match=r"^f\.json: row\[0\] = 3: must be an object$"):
        document_of(Document, {"row": [3]}, "f.json", KernelError, is_json=True)
    with pytest.raises(KernelError, match=r"^f\.json: row = 3: must be a list$"):
        document_of(Document, {"row": 3}, "f.json", KernelError, is_json=True)
