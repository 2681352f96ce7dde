"""The command as a process that has too little to begin with."""

import pytest

from simtmm import __main__ as command


def test_too_few_addresses_are_one_line_before_any_library_is_loaded(monkeypatch, capsys):
    monkeypatch.setattr(command, "limit_told", lambda needed: f"needs {needed} addresses")
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == command.WRONG_INPUT == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"simtmm: error: needs {command.LEAST_ADDRESSES} addresses\n")
