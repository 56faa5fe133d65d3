"""Ports that people name for programs of their own: declared with a start, opened through the gateway, shared."""
