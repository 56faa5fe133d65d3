"""Images that the platform pulls into its registry from an address, in jobs that outlive whoever works on them."""
