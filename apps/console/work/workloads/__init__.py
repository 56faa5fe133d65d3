"""Every organisation's workloads."""
