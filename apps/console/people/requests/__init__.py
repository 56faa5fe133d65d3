"""Requests for packages that need approval."""
