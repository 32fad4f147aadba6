import pytest

from orchestrator.egress.inject.aws_keys import AwsKeys, parse_aws_keys


@pytest.mark.parametrize(
    ("secret", "keys"),
    [
        ("ID:KEY", AwsKeys("ID", "KEY")),
        ("ID:KEY:TO:KEN", AwsKeys("ID", "KEY", "TO:KEN")),
        ('{"AccessKeyId": "ID", "SecretAccessKey": "KEY"}', AwsKeys("ID", "KEY")),
        (
            '{"Version": 1, "AccessKeyId": "ID", "SecretAccessKey": "KEY", "SessionToken": "T"}',
            AwsKeys("ID", "KEY", "T"),
        ),
        ("", None),
        ("ID", None),
        ("ID:", None),
        (":KEY", None),
        ("{", None),
        ("{}", None),
        ('{"AccessKeyId": 1, "SecretAccessKey": "KEY"}', None),
        ('{"AccessKeyId": "ID", "SecretAccessKey": null}', None),
    ],
)
def test_pair_is_read_from_each_form(secret, keys):
    """Two or three parts, or what a credential process prints; nothing else is a pair."""
    assert parse_aws_keys(secret) == keys
