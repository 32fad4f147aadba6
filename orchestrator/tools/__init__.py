"""Tools turn a model's arguments into a Request and an Outcome into words; they never act."""
