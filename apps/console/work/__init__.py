"""What organisations run and keep: workloads, environments, storage, images."""
