"""What decides about each thing that would leave the box: rules, a person, the record."""
