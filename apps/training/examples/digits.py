"""Learn to read handwritten digits: prints metrics, writes the model, its metrics and a picture of the errors."""

import argparse
import json
import os
import time
from pathlib import Path

import joblib
import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import ConfusionMatrixDisplay, accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

matplotlib.use("Agg")

arguments = argparse.ArgumentParser()
arguments.add_argument("--epochs", type=int, default=20)
arguments.add_argument("--hidden", type=int, default=64)
arguments.add_argument("--learning-rate", type=float, default=0.005)
arguments.add_argument("--pause", type=float, default=0.3, help="seconds between epochs, to watch it live")
options = arguments.parse_args()

output = Path(os.environ.get("PLSTACK_OUTPUT", "."))
digits = load_digits()
train_x, test_x, train_y, test_y = train_test_split(digits.data / 16.0, digits.target, test_size=0.25, random_state=0)
print(f"{len(train_x)} images to learn from, {len(test_x)} to test with", flush=True)

model = MLPClassifier(hidden_layer_sizes=(options.hidden,), learning_rate_init=options.learning_rate, random_state=0)
history = []
for epoch in range(1, options.epochs + 1):
    order = np.random.default_rng(epoch).permutation(len(train_x))
    for batch in np.array_split(order, max(1, len(order) // 64)):
        model.partial_fit(train_x[batch], train_y[batch], classes=digits.target_names)
    accuracy = accuracy_score(test_y, model.predict(test_x))
    history.append({"epoch": epoch, "loss": round(float(model.loss_), 4), "accuracy": round(float(accuracy), 4)})
    print(f"epoch {epoch}/{options.epochs} loss {model.loss_:.4f} accuracy {accuracy:.4f}", flush=True)
    time.sleep(options.pause)

joblib.dump(model, output / "model.joblib")
(output / "metrics.json").write_text(json.dumps({"final": history[-1], "history": history}, indent=2))
ConfusionMatrixDisplay.from_predictions(test_y, model.predict(test_x)).figure_.savefig(
    output / "confusion.png", dpi=120
)
print(f"wrote model.joblib, metrics.json and confusion.png to {output}", flush=True)
