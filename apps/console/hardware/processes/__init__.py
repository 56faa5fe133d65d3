"""The platform's own processes and their replacements."""
