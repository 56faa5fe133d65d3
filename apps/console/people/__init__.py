"""Organisations, the people in them, and the platform's staff."""
