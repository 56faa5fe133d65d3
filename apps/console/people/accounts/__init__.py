"""People and staff: their accounts and their platform roles."""
