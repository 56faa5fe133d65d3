"""What steps of builds have changed, kept by organisation, so that an unchanged beginning is not carried out again.

A step's key says all that it is made of: the base by digest, what it does, with which variables and files, and the key
of the step before it. Its entry is an archive in the organisation's own content store, made and put in place inside the
sandbox (`inside/step_cache.py`) and never read by the platform. A build gets those of its own keys alone, by links in a
folder that it cannot write to, each with its digest: an entry that is gone or damaged is one that is not there.

Who shares an organisation shares its cache, so no program may say of a step what it did not do. Archives get their
names once no program of a step is left, and are taken only from a build whose own program ended by itself and into
which nobody opened a terminal. Builds are given no secrets, so that none can be in it.
"""
