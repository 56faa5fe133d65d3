"""Requests for packages, of one's own organisation."""
