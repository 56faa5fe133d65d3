"""Against a real cluster: the one that KUBECONFIG names."""
