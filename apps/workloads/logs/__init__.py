"""Logs of workloads: as lines with their times, searched, and as a file. Every offset is one of bytes."""
