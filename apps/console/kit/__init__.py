"""What all rooms of the console share; it knows none of them."""
