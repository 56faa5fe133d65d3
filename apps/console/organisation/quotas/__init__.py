"""Quotas of the organisation, its departments and its people."""
