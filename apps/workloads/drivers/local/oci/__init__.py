"""Container images on a bare machine: fetched by digest, unpacked once, and made the root of a sandbox."""
