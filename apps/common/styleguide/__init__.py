"""A page that shows every component with made-up data; served only while DEBUG is on."""
