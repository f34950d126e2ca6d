"""Training loops of others: with Lightning and torchmetrics where they are installed, and without them."""

from __future__ import annotations

import importlib.util
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import geodim
from geodim.errors import InputTypeError, InputValueError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

LIGHTNING = importlib.util.find_spec("lightning") is not None
TORCHMETRICS = importlib.util.find_spec("torchmetrics") is not None


@pytest.fixture(params=["installed", "absent"])
def training(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, with the packages as they are here, and as if they were not."""
    monkeypatch.delitem(sys.modules, "geodim.torch.training", raising=False)
    if request.param == "absent":
        found = importlib.util.find_spec

        def spec(name: str, *rest: Any) -> Any:
            hidden = name.partition(".")[0] in ("lightning", "pytorch_lightning", "torchmetrics")
            return None if hidden else found(name, *rest)

        monkeypatch.setattr(importlib.util, "find_spec", spec)
    elif not (LIGHTNING or TORCHMETRICS):
        pytest.skip("neither Lightning nor torchmetrics is installed")
    module = importlib.import_module("geodim.torch.training")
    yield module
    sys.modules.pop("geodim.torch.training", None)


def points(n: int = 400) -> Any:
    return torch.from_numpy(np.random.default_rng(0).normal(size=(n, 5)))


class TestMetric:
    def test_is_the_dimension_of_all_batches(self, training: Any) -> None:
        X, metric = points(), training.DimensionMetric()
        for batch in X.split(64):
            metric.update(batch)
        expected = geodim.intrinsic_dimension(X).dimension
        assert metric.result.lower <= expected <= metric.result.upper
        assert float(metric.compute()) == pytest.approx(expected, rel=1e-3)
        metric.reset()
        metric.update(X[:100])
        assert float(metric.compute()) == pytest.approx(
            geodim.intrinsic_dimension(X[:100]).dimension, rel=1e-3
        )
        assert metric.stream.n_points_ == 100

    def test_the_other_number(self, training: Any) -> None:
        metric = training.DimensionMetric("discriminability", scale="none")
        metric.update(points().float().requires_grad_())
        expected = geodim.intrinsic_dimension(points().float(), scale="none").discriminability
        assert float(metric.compute()) == pytest.approx(expected, rel=1e-3)

    def test_parts_merge(self, training: Any) -> None:
        X, metrics = points(), [training.DimensionMetric() for _ in range(2)]
        for metric, half in zip(metrics, X.split(200), strict=True):
            metric.update(half)
        merged = metrics[0].stream.merge(metrics[1].stream)
        assert merged.lower_ <= geodim.intrinsic_dimension(X).dimension <= merged.upper_

    def test_wrong_input(self, training: Any) -> None:
        with pytest.raises(InputValueError, match="of"):
            training.DimensionMetric("size")
        with pytest.raises(InputTypeError, match="floating-point"):
            training.DimensionMetric().update(torch.ones((3, 2), dtype=torch.int64))


def network() -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).double()


class TestCallback:
    def test_logs_after_every_validation(self, training: Any) -> None:
        model, logged = network(), {}
        model.log = logged.__setitem__
        callback = training.DimensionCallback(["0", "2"], rtol=0.0)
        for epoch in range(-1, 2):
            trainer = SimpleNamespace(sanity_checking=epoch < 0, current_epoch=epoch)
            model.eval()
            callback.on_validation_epoch_start(trainer, model)
            output = model(points())
            callback.on_validation_epoch_end(trainer, model)
            assert not model[0]._forward_hooks
        assert logged["dimension/2"] == geodim.intrinsic_dimension(output.detach()).dimension
        assert set(logged) == {"dimension/0", "dimension/2"}
        assert [row["step"] for row in callback.watch.rows] == [0, 0, 1, 1]

    def test_hooks_go_with_an_error(self, training: Any) -> None:
        model = network().eval()
        callback = training.DimensionCallback()
        callback.on_validation_epoch_start(SimpleNamespace(), model)
        assert model[0]._forward_hooks
        callback.on_exception(SimpleNamespace(), model, ValueError())
        assert not model[0]._forward_hooks


@pytest.mark.skipif(not LIGHTNING, reason="Lightning is not installed")
@pytest.mark.filterwarnings("ignore")  # of Lightning, about workers and loggers
def test_with_the_trainer_of_lightning(tmp_path: Any) -> None:
    from lightning import pytorch as lightning

    from geodim.torch import DimensionCallback, DimensionMetric

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net, self.metric = network().float(), DimensionMetric()

        def training_step(self, batch: Any, _: int) -> Any:
            return self.net(batch[0]).square().mean()

        def validation_step(self, batch: Any, _: int) -> None:
            self.metric.update(self.net(batch[0]))
            self.log("whole", self.metric)

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(points().float()), batch_size=100)
    callback, module = DimensionCallback(["net.0", "net.2"], rtol=0.0), Module()
    trainer = lightning.Trainer(
        max_epochs=2, callbacks=[callback], logger=False, enable_checkpointing=False, accelerator="cpu",
        enable_progress_bar=False, enable_model_summary=False, default_root_dir=tmp_path,
    )  # fmt: skip
    trainer.fit(module, data, data)
    assert [row["step"] for row in callback.watch.rows] == [0, 0, 1, 1]
    last = callback.watch.rows[-1]["dimension"]
    assert float(trainer.callback_metrics["dimension/net.2"]) == pytest.approx(last, rel=1e-6)
    assert float(trainer.callback_metrics["whole"]) == pytest.approx(last, rel=2e-3)
