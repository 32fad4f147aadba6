"""Boxes that stand ready before a session asks for one, and how a session takes one over."""
