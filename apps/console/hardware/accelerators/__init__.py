"""Cards: what each offers and how it is cut."""
