"""What an organisation has, how long it lasts, and what a start would cost."""
