"""Cards that an organisation is guaranteed."""
