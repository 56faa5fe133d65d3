"""What was earned in a month, by package and by organisation."""
