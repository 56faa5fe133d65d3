"""Time bought ahead: orders, renewal, change, give-back, and earning it day by day."""
