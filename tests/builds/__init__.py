"""Builds of container images."""
