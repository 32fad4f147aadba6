import pytest

from orchestrator.model.errors import Failure, classify

REFUSED = [
    Failure(400, "invalid_request_error",
            message="messages.1.content.0: Invalid `signature` in `thinking` block"),
    Failure(400, "invalid_request_error",
            message="messages.3.content.1: Invalid `data` in `redacted_thinking` block"),
    Failure(400, "invalid_request_error", message="messages.5.content.0: `thinking` or "
            "`redacted_thinking` blocks in the latest assistant message cannot be modified."),
    Failure(400, "invalid_request_error", "invalid_encrypted_content", "strange words"),
    Failure(400, "invalid_request_error", message="The encrypted content gAAA could not be "
            "verified. Reason: Encrypted content could not be decrypted or parsed."),
    Failure(400, message="The encrypted content for item rs_1 could not be verified."),
    Failure(404, "invalid_request_error", message="Item with id 'rs_0a1b' not found. Items are "
            "not persisted when `store` is set to false."),
    Failure(400, "INVALID_ARGUMENT", message="Corrupted thought signature."),
    Failure(400, "INVALID_ARGUMENT", message="Thought signature is not valid"),
    Failure(400, "INVALID_ARGUMENT", message="The thought_signature could not be verified"),
    Failure(400, "INVALID_ARGUMENT", message="Invalid value: invalid thought signature"),
]  # fmt: skip
OTHERS = [
    (Failure(400, "INVALID_ARGUMENT", message="Function call is missing a thought_signature in "
             "functionCall parts. This is required for tools to work correctly"), "bad_request"),
    (Failure(400, "invalid_request_error", message="messages.1.content.0.type: Expected `thinking` "
             "or `redacted_thinking`, but found `tool_use`"), "bad_request"),
    (Failure(400, "invalid_request_error", message="Invalid value for `thinking.budget_tokens`"),
     "bad_request"),
    (Failure(403, message="The request signature we calculated does not match the signature you "
             "provided"), "auth"),
    (Failure(400, message="Item with id 'msg_1' not found."), "bad_request"),
    (Failure(400, message="invalid image data in tool result"), "too_large"),
    (Failure(401, "authentication_error", message="invalid signature in thinking"), "auth"),
]  # fmt: skip


@pytest.mark.parametrize("failure", REFUSED)
def test_refused_thoughts_are_known_in_every_vendors_words(failure):
    assert classify(failure) == "thoughts_refused"


@pytest.mark.parametrize(("failure", "kind"), OTHERS)
def test_what_only_sounds_alike_is_none(failure, kind):
    """A call that nothing signed, or a form that is wrong, is not mended by leaving thoughts out."""
    assert classify(failure) == kind
