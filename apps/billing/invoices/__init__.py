"""Invoices (发票): asked for by an organisation, issued and voided by finance staff."""
