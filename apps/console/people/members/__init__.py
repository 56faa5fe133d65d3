"""The members of an organisation."""
