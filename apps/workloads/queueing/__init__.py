"""The queue's memory between passes: promises and how they turned out, use over time, who was asked to give way."""
