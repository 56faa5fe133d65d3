"""The staff's exports."""
