"""The staff's own notices and the bell."""
