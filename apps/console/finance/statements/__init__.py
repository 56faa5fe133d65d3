"""Monthly statements: building, reviewing, issuing them."""
