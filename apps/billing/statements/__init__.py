"""Statements of a billing month, and the platform's revenue in it."""
