"""Where numbers are written otherwise than Django has them for a language."""
