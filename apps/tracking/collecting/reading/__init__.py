"""Readers of metrics: pure and incremental. Bytes go in, points come out, and a small state says where to go on.

What a log line says
    A line is read where it has a word of progress with a number (`epoch`, `step`, `iteration`, `batch`, `round`,
    XGBoost's `[7]`, CatBoost's `7:`), is a known shape (a dict or JSON object, a bar of tqdm or Keras, a row under a
    header of columns that begins with such a word), or says a result by its name (`val_loss: 0.3`, `Accuracy: 81/90`).
    Every other line is no metric: what is read by mistake is worse than what is missed.

    A value is a number after its name and `=`, `:` or, for the names of known metrics, a space. Numbers with a unit of
    time, size or speed, dates, addresses, versions and paths are none; `nan` and `inf` are. A percentage counts as
    printed, `81/90` as its ratio, `1,234.5` as a thousand and more. Names that say how a run is set up or how long
    something took (`seed`, `batch_size`, `eta`, `time`) are no metrics.

    In lines with a word of progress alone, a name that is not known counts if its value is written as a float or a
    known metric stands beside it.

    Lines that a launcher marks as those of another rank (`[rank1]:`, `[1,2]<stdout>:`) are not read: rank 0 speaks.

What the step is
    The step of the line, else its iteration, else its epoch, else the count of its bar. A count within an epoch goes
    on from one epoch to the next (epoch x total + count). A bar of Keras gives its metrics once it is full, at its
    epoch. A line without any of these takes the last one that was seen; where there was none, the next of its series.

When a point was
    When its line was stored, as the machine wrote it down, else when it is read.

Names
    As printed, words joined by `_`; `train`, `val`, `valid`, `validation`, `test` and `eval` in front become a prefix:
    `train loss`, `train-loss` and LightGBM's `train's loss` are all `train/loss`.
"""
