"""Package hosts of a session's image, and the packages that policy has put on it beforehand."""
