"""The static checks behind `make check`; each is one command, all of them run, the failing ones show their output."""
