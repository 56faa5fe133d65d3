"""Roles of the organisation's own making."""
