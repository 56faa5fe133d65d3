"""TensorBoard over the outputs of runs: of one on its page, of up to ten chosen in their list, live while they run.

A board is an ordinary workload of who opened it: a package, quota, the queue, a meter, and an end that writes itself.
It is not free, since cores and memory cost the same whatever they do, but it takes the cheapest package without a GPU,
its page says the price before it starts, and it ends by itself once nobody has looked for a while.

Event files are hostile input, so TensorBoard reads them where the runs' own programs were: in the sandbox, under the
tenant's user id, without any way out. It runs on a runtime of its own, not on the runs' images, and sees their output
folders and nothing else, read-only. The gateway shows it at an origin of its own, to its owner alone.

Its owner has to see all of the runs, not only when it starts: `permissions` is asked at each entry and again while it
is open, and `reconcile` ends a board whose owner no longer does.
"""
