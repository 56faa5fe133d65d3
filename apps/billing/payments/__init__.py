"""Money that comes from outside: by Alipay, by bank with a second person, and whether both sides agree about it."""
