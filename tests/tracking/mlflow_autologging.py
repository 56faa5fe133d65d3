"""A program whose libraries log by themselves; run by the client's interpreter, with the variables of a run."""

import mlflow
import xgboost
from mlflow import MlflowClient
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

features, labels = load_iris(return_X_y=True)
client = MlflowClient()

mlflow.sklearn.autolog()
mlflow.xgboost.autolog()
with mlflow.start_run() as run:
    LogisticRegression(max_iter=200).fit(features, labels)
    with mlflow.start_run(nested=True, run_name="boosted") as inside:
        table = xgboost.DMatrix(features, labels)
        settings = {"objective": "multi:softprob", "num_class": 3, "nthread": 1}
        xgboost.train(settings, table, num_boost_round=4, evals=[(table, "train")], verbose_eval=False)


def models_of(run_id: str) -> list[str]:
    return [each.path for each in client.list_artifacts(run_id, "models") if each.is_dir]


data = client.get_run(run.info.run_id).data
assert data.metrics["training_accuracy_score"] > 0.9, data.metrics
assert data.params["max_iter"] == "200", data.params
history = client.get_metric_history(run.info.run_id, "training_accuracy_score")
assert len(history) == 1, history
(folder,) = models_of(run.info.run_id)
model = mlflow.sklearn.load_model(f"runs:/{run.info.run_id}/{folder}")
assert model.predict(features[:1]) == labels[:1]
assert mlflow.get_logged_model(folder.rpartition("/")[2]).status == "READY"

data = client.get_run(inside.info.run_id).data
assert [each.step for each in client.get_metric_history(inside.info.run_id, "train-mlogloss")] == [0, 1, 2, 3]
assert data.params["num_boost_round"] == "4", data.params
assert models_of(inside.info.run_id)
print("logged", mlflow.__version__)
