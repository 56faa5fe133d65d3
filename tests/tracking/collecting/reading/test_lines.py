"""What single lines say: outputs of the field's tools, and lines that only look like metrics."""

from math import inf, isnan

import pytest

from apps.tracking.collecting.reading.lines import read_line

SAID = {
    "epoch 3/30 loss=0.42 acc 0.95": {"loss": 0.42, "acc": 0.95},
    "Epoch 3: loss: 0.42 - val_loss: 0.5": {"loss": 0.42, "val_loss": 0.5},
    "step 100 | loss 0.42 | lr 1e-4": {"loss": 0.42, "lr": 1e-4},
    # Hugging Face's trainer, before and since its values are strings
    "{'loss': 0.42, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 1.0}": {
        "loss": 0.42,
        "grad_norm": 1.2,
        "learning_rate": 5e-05,
    },
    "{'loss': '0.42', 'epoch': '0.5'}": {"loss": 0.42},
    "{'train_runtime': 12.3, 'train_samples_per_second': 100.2, 'train_loss': 0.5, 'epoch': 3.0}": {
        "train_samples_per_second": 100.2,
        "train_loss": 0.5,
    },
    '{"step": 7, "loss": 0.31, "ts": "2026-01-01"}': {"loss": 0.31},
    '{"step": 7, "train": {"loss": 0.31}, "eval": {"acc": 0.5}}': {"train/loss": 0.31, "eval/acc": 0.5},
    # Keras 2, Keras 3, and Keras without bars
    "1875/1875 [==============================] - 3s 2ms/step - loss: 0.29 - accuracy: 0.91 - val_loss: 0.14": {
        "loss": 0.29,
        "accuracy": 0.91,
        "val_loss": 0.14,
    },
    "1875/1875 ━━━━━━━━━━━━━━━━━━━━ 3s 2ms/step - accuracy: 0.8 - loss: 0.3": {"accuracy": 0.8, "loss": 0.3},
    "1875/1875 - 3s - 2ms/step - accuracy: 0.91 - loss: 0.29": {"accuracy": 0.91, "loss": 0.29},
    # Lightning, tqdm
    "Epoch 3:  50%|█████     | 50/100 [00:05<00:05,  9.90it/s, v_num=0, train_loss=0.420]": {"train_loss": 0.42},
    "Epoch 1/10: 100%|██| 10/10 [00:01<00:00,  9.1batch/s, loss=0.5, acc=88.2%]": {"loss": 0.5, "acc": 88.2},
    # XGBoost, LightGBM, CatBoost
    "[0]\ttrain-rmse:0.41234\teval-rmse:0.42": {"train/rmse": 0.41234, "eval/rmse": 0.42},
    "[10]\ttraining's binary_logloss: 0.2\tvalid_1's auc: 0.9": {
        "training/binary_logloss": 0.2,
        "valid_1/auc": 0.9,
    },
    "0:\tlearn: 0.6931\ttest: 0.68\tbest: 0.68 (0)\ttotal: 50ms\tremaining: 50s": {"learn": 0.6931, "test": 0.68},
    # scikit-learn
    "Iteration 1, loss = 0.69314718": {"loss": 0.69314718},
    "Validation score: 0.910000": {"Validation/score": 0.91},
    # PyTorch's examples
    "Epoch: [0][ 100/5005]\tTime  0.350 ( 0.412)\tLoss 6.9000e+00 (6.95e+00)\tAcc@1   0.39 (  0.20)": {
        "Loss": 6.9,
        "Acc@1": 0.39,
    },
    "Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.300000": {"train/Loss": 2.3},
    "Test set: Average loss: 0.0494, Accuracy: 9832/10000 (98%)": {
        "test/Average_loss": 0.0494,
        "test/Accuracy": 0.9832,
    },
    # Megatron, nanoGPT, OpenMMLab, PaddleClas
    " iteration       10/     500 | consumed samples: 80 | elapsed time per iteration (ms): 500.0 | "
    "learning rate: 1.000E-05 | global batch size: 8 | lm loss: 1.080000E+01 | loss scale: 1.0 | grad norm: 2.300 |": {
        "learning_rate": 1e-5,
        "lm_loss": 10.8,
        "grad_norm": 2.3,
    },
    "iter 100: loss 2.3456, time 123.45ms, mfu 12.3%": {"loss": 2.3456, "mfu": 12.3},
    "step 250: train loss 2.1000, val loss 2.2000": {"train/loss": 2.1, "val/loss": 2.2},
    "2024/01/01 12:00:00 - mmengine - INFO - Epoch(train)  [1][  50/1000]  lr: 1.0000e-03  eta: 1:00:00  "
    "time: 0.5000  data_time: 0.01  memory: 2000  loss: 0.5123  loss_cls: 0.3": {
        "lr": 1e-3,
        "train/loss": 0.5123,
        "train/loss_cls": 0.3,
    },
    "[2021/05/01 10:00:00] ppcls INFO: [Train][Epoch 1/120][Iter: 10/100]lr(LinearWarmup): 0.001, top1: 0.1, "
    "CELoss: 2.3, loss: 2.4, batch_cost: 0.5s, ips: 30 samples/s, eta: 1:00:00": {
        "top1": 0.1,
        "CELoss": 2.3,
        "loss": 2.4,
    },
    # people
    "loss: tensor(0.4321, device='cuda:0', grad_fn=<NllLossBackward0>)": {"loss": 0.4321},
    "epoch 1 loss: 1,234.5": {"loss": 1234.5},
    "Epoch 2 | loss 0.1 | acc inf": {"loss": 0.1, "acc": inf},
    "[1,0]<stdout>:step 5 loss=0.5": {"loss": 0.5},
    "Epoch 2/10, Train Loss: 0.5, Val Acc: 88.5%": {"Train/Loss": 0.5, "Val/Acc": 88.5},
    "2026-11-27 12:00:00,123 INFO trainer: epoch=2 step=300 train/loss=0.31": {"train/loss": 0.31},
}


@pytest.mark.parametrize("line", SAID)
def test_values_of_a_line(line: str) -> None:
    said = read_line(line)

    assert said is not None
    assert dict(said.values) == pytest.approx(SAID[line])


@pytest.mark.parametrize(
    "line",
    [
        "Using torch version: 2.1.0",
        "epoch 3: saved checkpoint to /x/loss=0.4.ckpt",
        "saved epoch=3-step=100-val_loss=0.32.ckpt",
        "Epoch 00010: val_loss improved from 0.30000 to 0.25000, saving model to model.h5",
        "Namespace(lr=0.001, epochs=10, batch_size=32)",
        'Config: {"lr": 0.001, "epochs": 3, "batch_size": 32}',
        '{"epoch": 10, "lr": 0.1, "batch_size": 32}',
        '{"loss": "mse", "optimizer": "adam", "seed": 3}',
        "Step 1: installing version 2.3",
        "Step 2/10 : RUN pip install torch==2.1",
        "Step 2 of 3: port: 8080, size: 5",
        "step 3: took 12.3s memory: 5 GB",
        "connected to 10.0.0.1:8080",
        "2026-11-27 12:00:00 loaded 1,234 images",
        "epoch 1 loss: 0,42",
        "packet loss: 5 min",
        "loss_weight: 0.5 label_smoothing: 0.1",
        "Downloading: 100%|██████████| 440/440 [00:00<00:00, 1MB/s]",
        "Sanity Checking DataLoader 0: 100%|██████████| 2/2 [00:00<00:00, 4.5it/s, loss=3]",
        " 312/1875 [===>..........................] - ETA: 2s - loss: 0.6 - accuracy: 0.8",
        "Epoch 5 completed in 12.3 s",
        "[rank1]: step 5 loss=0.5",
        "[1,3]<stdout>:step 5 loss=0.5",
        "http://host/step/5?loss=0.5",
        "",
    ],
)
def test_lines_without_metrics(line: str) -> None:
    said = read_line(line)

    assert said is None or said.values == ()


def test_no_number_is_a_value_too() -> None:
    said = read_line("step 7 loss: nan")

    assert said is not None
    assert isnan(dict(said.values)["loss"])


@pytest.mark.parametrize(
    "line",
    [
        *("a" * 4000, "a b " * 1000, "a-" * 2000, "loss " * 800 + "1x", "1" * 4000, "[1] " * 1000, "epoch " * 600),
        *("{'a': 1, " * 400, "9% " * 1000 + "|", "━" * 4000 + "1/", "loss:" + " " * 3000 + "1", ("a" * 80 + " ") * 49),
    ],
)
def test_no_line_takes_long(line: str) -> None:
    for _turn in range(20):
        read_line(line)
