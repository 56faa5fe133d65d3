"""What the platform grants an organisation."""
