"""Statements of a billing month, and what the platform has earned in it."""
