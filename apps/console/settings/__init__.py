"""The platform's settings: one file for each page."""
