"""Vouchers as they pay: how far they stand for work, and how usage is divided between them and the wallet."""
