"""What the money went to: charges by day, run, member, department and tag."""
