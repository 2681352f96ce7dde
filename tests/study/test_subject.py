"""What a study runs, made from a kernel, and from what its store keeps of one."""

import json

import pytest

from simtmm.errors import StudyError
from simtmm.kernel import kernel_folders, load_kernel
from simtmm.study.design.design import design_of
from simtmm.study.design.points import points_of
from simtmm.study.design.stored_design import stored_design
from simtmm.study.design.study_file import study_of
from simtmm.study.design.subject import described_subject, typed_subject

HOST = """
import numpy as np
from simtmm.kernel import Parameter
PARAMETERS = {
    "a": Parameter(4, "whole", minimum=np.int64(1), maximum=np.inf),
    "b": Parameter(0.5, "not whole", maximum=10**400),
    "c": Parameter("x", "a word", choices=["x", "y"]),
    "d": Parameter(2, "of some", choices=range(1, 3)),
}
def inputs(p): ...
def launches(p, memory): ...
def check(p, before, after): ...
"""


@pytest.fixture
def own(tmp_path):
    """A kernel's folder."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "kernel.cu").touch()
    (folder / "host.py").write_text(HOST)
    return folder


def kept(made):
    """What a store keeps of a program, read again."""
    return described_subject(json.loads(json.dumps(made.description())))


@pytest.mark.parametrize("name", kernel_folders())
def test_a_described_kernel_is_the_kernel(name):
    made = typed_subject(name)
    again = kept(made)
    assert (again.kind, again.name, again.digest) == (made.kind, made.name, made.digest)
    assert {each: again.parameter(each) for each in again.parameters} == load_kernel(name).parameters
    assert again.resolve({}) == made.resolve({})


def test_a_described_parameter_takes_what_the_parameter_takes(own):
    made = typed_subject(str(own))
    again = kept(made)
    for given in ({"a": "7"}, {"a": 1}, {"b": -1e300}, {"b": 3}, {"c": "y"}, {"d": "1"}):
        assert again.resolve(given) == made.resolve(given)
    for given in ({"a": 0}, {"a": 1.5}, {"c": "z"}, {"d": 3}, {"e": 1}):
        said = []
        for one in (made, again):
            with pytest.raises(Exception, match="own") as caught:
                one.resolve(given)
            said.append(type(caught.value))
        assert said[0] is said[1]


def test_the_points_of_a_described_kernel_have_the_same_keys(own):
    study = study_of({"program": str(own), "machines": ["ideal"], "axes": {"a": "1:4", "memory.latency": "100,200"}})
    made = design_of(study)
    again = stored_design(json.loads(made.document()), "s.sqlite")
    assert [point.key for point in points_of(again)] == [point.key for point in points_of(made)]


def test_only_a_kernel_is_described():
    assert typed_subject("list-ranking").description() is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda kernel: "stream", "kernel = 'stream': must be an object"),
        (lambda kernel: {}, "kernel.name: is missing"),
        (lambda kernel: {**kernel, "name": 3}, "kernel.name = 3: must be a word"),
        (lambda kernel: {**kernel, "digest": None}, "kernel.digest = None: must be a word"),
        (lambda kernel: {**kernel, "parameters": []}, "kernel.parameters = []: must be an object"),
        (lambda kernel: {**kernel, "parameters": {"n": 4}}, "kernel.parameters.n = 4: must be an object"),
        (lambda kernel: changed(kernel, "default", None), "kernel.parameters.a.default = None: must be a number or"),
        (lambda kernel: changed(kernel, "default", True), "kernel.parameters.a.default = True: must be a number or"),
        (lambda kernel: changed(kernel, "help", 1), "kernel.parameters.a.help = 1: must be a text"),
        (lambda kernel: changed(kernel, "minimum", "1"), "kernel.parameters.a.minimum = '1': must be a number or null"),
        (lambda kernel: changed(kernel, "maximum", 10**400), "kernel.parameters.a.maximum = 1000"),
        (lambda kernel: changed(kernel, "maximum", float("nan")), "kernel.parameters.a.maximum = nan: must be from"),
        (lambda kernel: changed(kernel, "choices", 3), "kernel.parameters.a.choices = 3: must be a list or null"),
        (lambda kernel: changed(kernel, "choices", [[]]), "kernel.parameters.a.choices = [[]]: must be numbers and"),
    ],
)
def test_a_description_that_is_none_is_refused_with_file_and_key(own, change, message):
    document = json.loads(design_of(study_of({"program": str(own), "machines": ["ideal"]})).document())
    document["kernel"] = change(document["kernel"])
    with pytest.raises(StudyError) as caught:
        stored_design(document, "s.sqlite")
    assert str(caught.value).startswith(f"s.sqlite: {message}")
    assert "\n" not in str(caught.value)


def changed(kernel, part, value):
    """A description with another value in its parameter a."""
    parameters = kernel["parameters"]
    return {**kernel, "parameters": {**parameters, "a": {**parameters["a"], part: value}}}
