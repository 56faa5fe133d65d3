"""Brings the platform up on a bare machine: environment, embedded servers, front end, processes.

Standard library only, because it runs before anything is installed; what needs Django (`zygote`, `checks`) runs in
the virtual environment that this package creates.
"""
