import pytest

from orchestrator.cli.chains import chain_file, chains_folder, own_paths, print_lines, records_of
from orchestrator.errors import AuditError, UsageError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("GLOVEBOX_STATE", str(tmp_path))
    made = chains_folder(own_paths())
    made.mkdir(parents=True)
    return made


def test_records_are_read_as_they_stand_there(folder):
    chain = folder / "0123456789ab.jsonl"
    deep = b"[" * 3000 + b"]" * 3000
    chain.write_bytes(b'{"type":"a"}\nbroken \xff\n[1]\n' + deep + b"\n")

    found = list(records_of(chain))
    assert [record["type"] for record in found] == ["a", *["unreadable"] * 3]


def test_chain_is_named_by_file_id_or_beginning(folder):
    chain = folder / "0123456789ab.jsonl"
    chain.touch()

    assert chain_file(None) == chain_file("0123") == chain_file(str(chain)) == chain


def test_chain_that_is_not_there_is_said_to_be(folder):
    with pytest.raises(UsageError, match="there is no chain"):
        chain_file(None)
    with pytest.raises(UsageError, match="found 0"):
        chain_file("ffff")
    with pytest.raises(AuditError, match="cannot be read"):
        list(records_of(folder / "none"))


def test_lines_go_to_stdout(capsys):
    print_lines("one", "two")

    assert capsys.readouterr().out == "one\ntwo\n"
