"""Logs as they grow: steps, progress, and that no cut between two turns changes what is read."""

from hypothesis import given
from hypothesis import strategies as st

from apps.tracking.collecting.reading.log import LogReader, LogState
from apps.tracking.points import Point

KERAS = (
    "Epoch 1/2\n"
    + "".join(f"\r{n}/10 [==>.....] - ETA: 1s - loss: 0.{n}" for n in range(1, 10))
    + "\r10/10 [==========] - 1s 3ms/step - loss: 0.5 - val_loss: 0.6\n"
    + "Epoch 2/2\n10/10 [==========] - 1s 3ms/step - loss: 0.4 - val_loss: 0.5\n"
)
TRAINER = (
    "\r  0%|          | 0/20 [00:00<?, ?it/s]\r 10%|█         | 2/20 [00:10<01:30,  5.0it/s]\r\n"
    "{'loss': 0.42, 'epoch': 0.1}\n\r 50%|█████     | 10/20 [00:10<01:30,  5.0it/s]\r\n"
    "{'loss': 0.3, 'epoch': 1.0}\n\r100%|██████████| 5/5 [00:01<00:00, 4it/s]\n"
    "{'eval_loss': 0.2, 'eval_runtime': 2.0, 'epoch': 1.0}\n"
)
LIGHTNING = "".join(
    f"Epoch {epoch}:  {10 * n}%|███  | {n}/10 [00:0{n}<00:05,  9.90it/s, v_num=0, train_loss=0.{epoch}{n}]\r"
    for epoch in range(2)
    for n in (5, 10)
)
ULTRALYTICS = """
      Epoch    GPU_mem   box_loss   cls_loss  Instances       Size
\r        1/3      1.12G      1.334      2.345         12        640:  50%|█████     | 4/8 [00:02<00:00,  3.5it/s]\
\r        1/3      1.12G      1.234      2.345         12        640: 100%|██████████| 8/8 [00:02<00:00,  3.5it/s]
                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95)
                   all          4         17      0.642      0.537      0.613      0.45

      Epoch    GPU_mem   box_loss   cls_loss  Instances       Size
        2/3      1.12G        1.1        2.2         12        640: 100%|██████████| 8/8 [00:02<00:00,  3.5it/s]
"""
BOOSTING = """
      Iter       Train Loss   Remaining Time
         1           1.2345            0.50s
         2           1.1000            0.40s
done
"""
SKORCH = """
  epoch    train_loss    valid_acc     dur
-------  ------------  -----------  ------
      1        \x1b[36m0.6905\x1b[0m       \x1b[32m0.6150\x1b[0m  0.1028
"""
TORCH = (
    "Train Epoch: 1 [0/60000 (0%)]\tLoss: 2.3\nTrain Epoch: 1 [640/60000 (1%)]\tLoss: 1.3\n\n"
    "Test set: Average loss: 0.0494, Accuracy: 9832/10000 (98%)\n\nTrain Epoch: 2 [640/60000 (1%)]\tLoss: 1.1\n"
)
BY_EPOCH = "epoch 1/4 loss=0.5\nepoch 2/4 loss=0.4\n"


def read(text: str, cuts: tuple[int, ...] = ()) -> tuple[list[Point], LogState]:
    """Read in turns, each by another process that has the state alone."""
    data, state, offset = text.encode(), LogState(), 0
    points: list[Point] = []
    for end in (*sorted(cut % (len(data) + 1) for cut in cuts), len(data)):
        if end < offset:
            continue
        state = LogState.from_json(state.as_json())
        found, offset = LogReader(state).feed(data[offset:end], offset, float, ended=end == len(data))
        points += found
    assert offset == len(data)
    return points, state


def said(text: str) -> list[tuple[str, float, int | None]]:
    return [(point.name, point.value, point.step) for point in read(text)[0]]


def test_keras_says_the_metrics_of_whole_epochs() -> None:
    assert said(KERAS) == [("loss", 0.5, 1), ("val_loss", 0.6, 1), ("loss", 0.4, 2), ("val_loss", 0.5, 2)]


def test_a_dict_stands_at_the_step_of_the_bar_above_it() -> None:
    """The small bar of an evaluation does not count."""
    assert said(TRAINER) == [("loss", 0.42, 2), ("loss", 0.3, 10), ("eval_loss", 0.2, 10)]


def test_a_count_goes_on_from_epoch_to_epoch() -> None:
    steps = [(value, step) for _name, value, step in said(LIGHTNING)]
    assert steps == [(0.05, 5), (0.01, 10), (0.15, 15), (0.11, 20)]
    assert [step for name, _value, step in said(TORCH) if name == "train/Loss"] == [0, 640, 60640]


def test_a_line_without_a_place_takes_the_last_one() -> None:
    assert ("test/Accuracy", 0.9832, 640) in said(TORCH)


def test_rows_under_a_header() -> None:
    assert said(ULTRALYTICS) == [
        *(("box_loss", 1.234, 1), ("cls_loss", 2.345, 1)),
        *(("box_loss", 1.1, 2), ("cls_loss", 2.2, 2)),
    ]
    assert said(BOOSTING) == [("Train/Loss", 1.2345, 1), ("Train/Loss", 1.1, 2)]
    assert said(SKORCH)[:2] == [("train_loss", 0.6905, 1), ("valid_acc", 0.615, 1)]


def test_progress_of_epochs_and_bars() -> None:
    half, _fraction = read(BY_EPOCH)[1].progress, None
    assert (half.done, half.total, half.unit, half.fraction) == (2, 4, "epoch", 0.5)
    trainer = read(TRAINER)[1].progress
    assert (trainer.done, trainer.total, trainer.fraction) == (10, 20, 0.5)
    assert read(KERAS)[1].progress.fraction == 1.0
    assert read("Downloading: 50%|██ | 220/440 [00:00<00:00, 1MB/s]\n")[1].progress.fraction is None


def test_time_left_follows_the_pace_so_far() -> None:
    reader = LogReader(LogState())
    for line, at in ((b"epoch 1/4 loss=1\n", 100.0), (b"epoch 2/4 loss=1\n", 110.0)):
        reader.feed(line, 0, {0: at}.__getitem__, ended=False)

    assert reader.state.progress.left_s == 20.0


def test_a_line_that_still_grows_is_left_for_later() -> None:
    state = LogState()
    points, offset = LogReader(state).feed(b"step 1 loss=0.5\nstep 2 loss=0.", 0, float, ended=False)
    assert [point.step for point in points] == [1]
    assert offset == len("step 1 loss=0.5\n")


def test_a_line_without_end_is_passed_over_and_the_next_one_read() -> None:
    state = LogState()
    reader = LogReader(state)
    _points, offset = reader.feed(b"x" * 70_000, 0, float, ended=False)
    assert offset == 70_000
    points, _offset = reader.feed(b"step 9 loss=1\nstep 10 loss=0.5\n", offset, float, ended=True)
    assert [point.step for point in points] == [10]


@given(
    st.lists(
        st.sampled_from([KERAS, TRAINER, LIGHTNING, ULTRALYTICS, BOOSTING, SKORCH, TORCH, BY_EPOCH, "x\n", "\r"]),
        max_size=4,
    ),
    st.lists(st.integers(min_value=0, max_value=5000), max_size=6).map(tuple),
)
def test_no_cut_changes_what_is_read(parts: list[str], cuts: tuple[int, ...]) -> None:
    whole, state = read("".join(parts))
    cut, cut_state = read("".join(parts), cuts)

    assert cut == whole
    assert cut_state == state


@given(st.binary(max_size=2000))
def test_any_bytes_can_be_read(data: bytes) -> None:
    LogReader(LogState()).feed(data, 0, float, ended=True)
