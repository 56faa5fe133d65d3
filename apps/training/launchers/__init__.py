"""How the programs of a run with several members are started: one pure function for each launcher."""
