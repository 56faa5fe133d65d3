"""Reconcile our books with Alipay's bill of each day."""
