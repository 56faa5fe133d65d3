"""Payments by Alipay of all organisations: what was asked for, what Alipay told, what its bill says."""
