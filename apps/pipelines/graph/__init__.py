"""The graph of a pipeline: what it may be, in which order its steps stand, and what follows from how they ended.

Pure: no Django, no clock, no other app. Words for what is wrong are made where they are read, from codes.
"""
