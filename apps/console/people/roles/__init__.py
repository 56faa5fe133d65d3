"""Roles of the platform's staff."""
