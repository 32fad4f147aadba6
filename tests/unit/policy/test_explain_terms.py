"""Terms in words."""

from orchestrator.policy.explain_terms import terms_data, terms_rows
from orchestrator.schema.egress import Budget, InjectionTerms, Terms


def test_a_plain_yes_needs_none():
    """Nothing comes with it."""
    assert list(terms_rows(Terms())) == []
    assert terms_data(Terms())["injections"] == ()


def test_everything_else_is_said():
    """What is opened, sent along, reached and limited."""
    terms = Terms(
        inspect=True,
        private=("10.0.0.0/8",),
        injections=(
            InjectionTerms("session/a", "gh", "header", "Authorization"),
            InjectionTerms("session/b", "git", "basic", "me"),
        ),
        max_upload=1024,
        max_download=2048,
        budgets=(Budget("session", 4096, None), Budget("org/r", None, 8192)),
    )

    assert list(terms_rows(terms)) == [
        ("opened", "each request inside is judged by itself"),
        ("sends", "the secret 'gh' in the header Authorization, put in on the host (session/a)"),
        ("sends", "the secret 'git' in Basic credentials of me, put in on the host (session/b)"),
        ("private", "may have an address in 10.0.0.0/8"),
        ("limit", "1KiB sent at a time"),
        ("limit", "2KiB got at a time"),
        ("limit", "4KiB sent in the whole session (session)"),
        ("limit", "8KiB got in the whole session (org/r)"),
    ]
