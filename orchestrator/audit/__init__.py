"""A hash-chained, signed record of every act."""
