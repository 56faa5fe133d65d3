"""What a cluster has, lacks and really does: asked of its API, and proved by a few short pods."""
