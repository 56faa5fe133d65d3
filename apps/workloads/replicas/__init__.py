"""Equal programs that live one by one: how many are wanted, and what makes it so. See decisions/0020."""
