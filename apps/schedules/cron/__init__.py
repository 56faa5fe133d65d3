"""Cron expressions: read, told in words, and the moments that they name in a zone. Pure."""
