"""What the Kubernetes driver decides without a cluster."""
