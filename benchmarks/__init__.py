"""One runnable module for each figure that the project claims."""
