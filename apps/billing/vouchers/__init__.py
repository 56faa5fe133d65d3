"""Vouchers: granting them, taking them back, their end."""
