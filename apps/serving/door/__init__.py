"""The door of services: a part of each gateway process. It lets programs with a key through to well replicas."""
