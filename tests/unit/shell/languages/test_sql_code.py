"""SQL and the clients' own commands."""

import pytest

from orchestrator.shell.languages.sql_code import read_local_sql, read_sql


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("DROP TABLE t", "destructive"),
        ("select 1; delete from t", "destructive"),
        ("truncate t", "destructive"),
        ("/* x */ drop schema s cascade", "destructive"),
        ("insert into t values (1)", "publishes"),
        ("with a as (select 1) update t set b=1", "publishes"),
        ("grant all on t to x", "publishes"),
        ("copy t to program 'id'", "remote_code"),
        ("select load_extension('x')", "remote_code"),
        ("\\! git push", "shell"),
        (".shell git push", "shell"),
        ("select 1\n\\o /etc/x", "write"),
        (".output /etc/x", "write"),
    ],
)
def test_statement_has_its_kind(code, kind):
    """Writes, losses and escapes."""
    assert kind in [effect.kind for effect in read_sql(code)]


@pytest.mark.parametrize(
    "code",
    [
        "select * from t where a = 'drop table t'",
        "-- drop table t\nselect 1",
        'select "delete from" from t',
        "select $$drop table t$$",
        "explain select 1",
        "\\dt",
        "show tables",
        "select updated_at, deleted from t",
    ],
)
def test_reading_and_quoted_words_are_nothing(code):
    """A word in a string is a word in a string."""
    assert read_sql(code) == []


def test_local_database_may_be_written_but_not_dropped():
    """It is a file of the workspace."""
    assert read_local_sql("insert into t values (1)") == []
    assert read_local_sql("drop table t")
