"""Recipes of the platform's images: from one source a runtime's requirements and a Containerfile.

A recipe that pip alone can install is a runtime, installed on a machine at first use. One that needs more (system
packages, another index, another base) is offered as a Containerfile to build, never as a runtime that cannot install.

`make recipes` asks the package index whether all pins still resolve, and what they weigh.
"""
