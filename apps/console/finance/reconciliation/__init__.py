"""Alipay's bills held against the ledger."""
