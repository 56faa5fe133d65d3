"""Members of the organisation."""
