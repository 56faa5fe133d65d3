"""Known vulnerabilities in container images: scans with Grype, what was found by digest, and the policy about it."""
