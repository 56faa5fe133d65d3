"""Arrays: one run started with many sets of arguments, a line each, pasted or read from a CSV file.

All lines are checked before anything starts. The first run starts with the array and is what the others are made of, so
they share its code, image, package and seed and are versions of one family. The others are rows that say what should
be: a loop submits them as the owner, as far as quota and balance let, and goes on as runs end. A line and its run are
written in one transaction, so whoever is killed leaves no line without its run and none with two.
"""
