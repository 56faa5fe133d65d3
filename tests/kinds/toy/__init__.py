"""A kind of work in a folder: everything that the platform knows of toys is here."""
