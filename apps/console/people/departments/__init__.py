"""Departments of an organisation, as the platform's staff see them."""
