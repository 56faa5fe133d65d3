"""Files with many rows: what they are made of, how they are written, and the worker that makes them."""
