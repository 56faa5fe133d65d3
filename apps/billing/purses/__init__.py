"""Paying with vouchers: how far they cover work, and how usage is divided between them and the wallet."""
