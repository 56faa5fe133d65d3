"""Departments of the organisation."""
