"""The registry of container images: collections of what nothing points to."""
