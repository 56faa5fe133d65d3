"""When the money runs out: grace, suspension, and the release of data."""
