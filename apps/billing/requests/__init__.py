"""Packages that need approval: who may use them, who asks, who decides."""
