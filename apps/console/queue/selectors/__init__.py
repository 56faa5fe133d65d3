"""What the queue's pages read."""
