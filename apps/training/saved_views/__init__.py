"""Views of comparisons and of the list of runs that people keep under a name, for themselves or their organisation."""
