"""Work as pods of Kubernetes clusters.

A pod has two containers: the program's, whose first process is ours, and the shim's, which is the same as on any
machine and keeps the journal. They share a socket and nothing else, so that what a program does cannot change what is
told of it. `pod` is what runs inside; all else is the platform's side.
"""
