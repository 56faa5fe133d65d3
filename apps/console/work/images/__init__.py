"""The platform's images."""
