"""Machines and what runs the platform on them."""
