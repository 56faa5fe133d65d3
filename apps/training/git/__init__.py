"""Code of a run from a Git repository: fetched by address and branch, tag or commit, and kept as that one commit."""
