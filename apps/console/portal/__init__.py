"""What the portal's overview is made of."""
