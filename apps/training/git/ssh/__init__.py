"""Repositories over SSH: a private key of the secrets logs in, and the server's own key was confirmed by somebody."""
