"""Vouchers."""
