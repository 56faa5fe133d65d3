"""Discounts of organisations."""
