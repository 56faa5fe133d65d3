"""Building container images: from a Containerfile, or from a form that writes one.

A build is an ordinary workload in its base image: the tenant's user id, its sandbox, the way out through the platform's
proxy, the limits of any run, a package that is metered by the second as for any other work. It is not free: cores and
memory cost the same whatever they do, and a free build would be a free computer. What can be known to be wrong before
it starts (base, syntax, files, addresses) is refused before anything is held.

`containerfile` reads the text, `plan` turns it into steps, and `inside/build.py` carries them out in the run's own
layer over the base, where `inside/as_root.py` lets package managers believe that they are root. Then the program waits,
`reconcile` has its machine save that layer as one more layer of the image, as "save as image" does. Where there is a
registry, the machine sends the image there as a new version in a repository of the owner's or the organisation's
(`destination`, `reconcile.pushing`), from which it starts anywhere; then the program ends. A version is never
overwritten, what the registry has is not sent again, and the time that sending takes is part of the build.

Why not buildah: in its chroot isolation, too, it needs mount(2) and user namespaces of its own, which the sandbox's
filter refuses to everybody's work. Opening them to builds would widen what strangers' programs reach in the kernel.

What steps have changed is cached by organisation (`cache`), so that an unchanged beginning is not carried out again.

Of several stages those are carried out, as one, that lie on the way from an image to the wanted one (`stages`). What
`COPY --from` takes files of runs before, in its own image: the driver runs such stages one after the other in the place
of the task's program (`drivers.request.Stage`), and nothing of them is left but what they pass on
(`inside/passing_on.py`) in a folder that later ones only read.

What it does not do, each with a word at its line: here-documents, `RUN --mount`, archives that `ADD` unpacks. Files
belong to root, whatever `COPY --chown` or `USER` say: images have one owner here.
"""
