"""Where an invitation's link leads."""
