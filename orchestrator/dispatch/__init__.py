"""The one corridor from a model's tool call to its effect."""
