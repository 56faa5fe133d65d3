"""Invoices that organisations ask for."""
