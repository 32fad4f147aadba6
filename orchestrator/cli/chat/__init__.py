"""``glovebox chat``: one session that a person talks with."""
