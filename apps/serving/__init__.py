"""Model services: a person's model behind an address that answers, with replicas, keys and updates without a gap.

A `Service` has `ServiceVersion`s, which never change, and `Deployment`s: each runs one version as a set of replicas.
One deployment at a time is active, and the door (`door`) leads to its replicas whose health check passes. An update is
a second deployment beside it, which takes over once it has proved itself (`reconcile.advancing`).
"""
