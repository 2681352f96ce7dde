"""With what a page starts; the command line and the widget before them."""

import json
import queue
import re
import sys

import pytest

import simtmm
from simtmm.__main__ import main
from simtmm.errors import KernelError, MachineError, OutputError, StudyError
from simtmm.explorer.page_files import HERE, SCRIPTS, script, style
from simtmm.explorer.start import start
from simtmm.explorer.state import State
from simtmm.explorer.stories import stories
from tests.study.programs import MACHINE


def test_shipped_names_stay_names_and_files_get_one(tmp_path):
    begun = start("copy", "GTX480", {"n": 64})
    assert (begun.state, begun.programs.opened, begun.programs.given_machines) == ("k=copy&m=gtx480&p.n=64", {}, {})
    path = tmp_path / "copy.json"
    simtmm.Workload.from_dict({"blocks": [{"warps": [[["compute", 1]]]}]}).save(path)
    machine = simtmm.load_machine("ideal").replace({"memory.latency": 7})
    opened = start(path, machine)
    assert opened.program == "copy (opened)"  # and the shipped one keeps its name
    assert opened.programs.name_for_user("copy (opened)") == str(path)
    assert opened.programs.machine(opened.machine) == machine
    assert opened.programs.names()[0] == "copy (opened)"


@pytest.mark.parametrize(("form", "machine"), [("written", "gtx480"), ("compiled", "h100-sxm"), ("ptx", "h100-sxm")])
def test_a_kernel_that_is_recorded_as_compiled_begins_on_a_gpu_of_today(monkeypatch, form, machine):
    monkeypatch.setattr("simtmm.explorer.start.form_of", lambda kernel: form)
    assert start(simtmm.load_kernel("copy")).machine == machine
    assert start(simtmm.load_kernel("copy"), "ideal").machine == "ideal"
    for other in ("copy", simtmm.Workload.from_dict({"blocks": [{"warps": [[["compute", 1]]]}]})):
        assert start(other).machine == "gtx480"


def test_a_link_a_story_and_what_is_behind_the_question_mark_are_where_it_begins():
    assert start(state="http://127.0.0.1:9/token/?k=gemm&m=ideal").state == "k=gemm&m=ideal"
    assert start(state="k=gemm&m=ideal").state == "k=gemm&m=ideal"
    assert start(story="zigzag").state == stories()["zigzag"].state


def test_wrong_names_are_refused_before_anything_is_served():
    for error, arguments in [
        (KernelError, {"source": "nothing-of-the-kind"}),
        (MachineError, {"machine": "nothing-of-the-kind"}),
        (KernelError, {"source": "copy", "parameters": {"none": 1}}),
        (StudyError, {"story": "none"}),
        (KernelError, {"state": "k=../copy"}),
        (MachineError, {"state": "m=../ideal.toml"}),
    ]:
        with pytest.raises(error):
            start(**arguments)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing-of-the-kind"], "nothing-of-the-kind"),
        (["--story", "none"], "story 'none': unknown; known: anomaly"),
        (["copy", "--story", "zigzag"], "--story zigzag: can't be combined"),
        (["--state", "k=copy", "-p", "n=2"], "as p.NAME=VALUE"),
    ],
)
def test_the_command_says_what_is_wrong_in_one_line(monkeypatch, capsys, words, said):
    monkeypatch.setattr(sys, "argv", ["simtmm", "explore", *words])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


def test_without_the_extra_it_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tornado", None)
    monkeypatch.delitem(sys.modules, "simtmm.explorer.server", raising=False)
    monkeypatch.setattr(sys, "argv", ["simtmm", "explore", "--no-browser"])
    with pytest.raises(SystemExit):
        main()
    assert "pip install '.[explore]'" in capsys.readouterr().err


def test_the_script_is_one_module_and_the_style_is_below_one_class():
    text = script()
    assert all((HERE / f"{name}.js").read_text() in text for name in SCRIPTS)
    assert [line for line in text.splitlines() if line.startswith("import ")] == []
    assert text.count("export default") == 1
    assert text.count("export function explorer") == 1
    bare = re.sub(r"\{[^{}]*\}", "{}", re.sub(r"/\*.*?\*/", "", style(), flags=re.DOTALL))
    selectors = [part.strip() for rule in re.findall(r"([^{}@]+)\{\}", bare) for part in rule.split(",")]
    assert [each for each in selectors if each and "simtmm-explore" not in each and "#page" not in each] == []


def test_in_a_notebook_it_is_a_widget():
    pytest.importorskip("anywidget")
    page = simtmm.explore("copy", "classroom", {"n": 2048})
    sent = queue.Queue()
    page.send = lambda content: sent.put(json.loads(content["text"]))
    assert page.state == "k=copy&m=classroom&p.n=2048"
    assert page.start["program"] == "copy"
    page._asked(page, {"number": 1, "state": page.state}, [])
    parts = [sent.get(timeout=600)]
    while parts[-1]["part"] != "saved":
        parts.append(sent.get(timeout=600))
    assert parts[0]["part"] == "form"
    page._asked(page, "nonsense", [])
    page.close()
    page._session.join(600)
    assert not page._session._thread.is_alive()


def test_without_anywidget_a_notebook_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(OutputError, match=r"pip install '\.\[explore\]'"):
        simtmm.explore("copy", "classroom")


def test_a_name_is_one_whatever_stands_in_it(tmp_path):
    """A state is the text of an address, in which some characters part names."""
    path = tmp_path / "a&k=b#c+d%41.toml"
    path.write_text(MACHINE, encoding="utf-8")
    begun = start("copy", path, {"n": 2048})
    assert State.of(begun.state, begun.program, begun.machine).first.machine == "a&k=b#c+d%41"
