"""Invitations into the organisation."""
