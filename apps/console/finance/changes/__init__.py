"""Changes of prices, discounts, credit limits and money's limits that wait for a second person."""
