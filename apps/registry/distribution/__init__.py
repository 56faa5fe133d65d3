"""The registry of container images: who may pull and push what, the server behind it, and what lies in it."""
