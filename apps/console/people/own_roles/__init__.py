"""Roles of an organisation's own making, as the platform's staff see and manage them."""
