"""What the page of a version shows, as plain rows."""
