"""What a command line would do, read from its syntax tree."""
