"""Skills: instructions for one kind of work, with the tools and rules that go with it."""
