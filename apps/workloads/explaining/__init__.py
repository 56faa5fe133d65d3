"""Why something waits, told to people: causes in words, who holds what, the picture of a machine, what starts now."""
