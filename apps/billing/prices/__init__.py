"""What things cost: packages and their versions, the price list, discounts, and what an organisation pays."""
