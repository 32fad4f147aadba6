"""What a model is sent of a conversation: what fits, what is trimmed, what is summarised."""
