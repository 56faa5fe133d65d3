"""Refunds through Alipay."""
