"""Meaning: the rows of a multilingual sentence encoder, computed from the opening of each document."""
