"""What package managers fetch from, what passes of it, and what is noted of each artefact."""
