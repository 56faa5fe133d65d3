"""Money set aside for work that starts or runs."""
