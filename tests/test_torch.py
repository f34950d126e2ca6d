"""Layers watched in training: activations agree with those by hand, and the model stays as it was."""

from __future__ import annotations

import copy
import gc
import math
import subprocess
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import geodim
from geodim.errors import InputTypeError, InputValueError, NonFiniteError, ShapeError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from geodim.torch import LayerDimension

COLUMNS = ["step", "layer", "dimension", "lower", "upper", "error", "n_points", "n_features"]


@pytest.fixture
def model() -> Any:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return torch.nn.Sequential(
            torch.nn.Linear(6, 20),
            torch.nn.BatchNorm1d(20),
            torch.nn.ReLU(),
            torch.nn.Dropout(0.5),
            torch.nn.Linear(20, 4),
        ).eval()


@pytest.fixture
def points() -> Any:
    return torch.from_numpy(np.random.default_rng(4).normal(size=(300, 6)).astype(np.float32))


def exactly(activations: Any) -> float:
    return geodim.intrinsic_dimension(activations.detach().numpy()).dimension


class TestNumbers:
    def test_equals_activations_by_hand(self, model: Any, points: Any) -> None:
        with LayerDimension(model, ["0", "2", "4"], rtol=0.0) as watch:
            output = model(points)
            rows = watch.measure(step=7)
        hidden = model[0](points)
        by_hand = {"0": hidden, "2": model[2](model[1](hidden)), "4": output}
        assert [row["layer"] for row in rows] == ["0", "2", "4"]
        for row in rows:
            assert list(row) == COLUMNS
            assert row["dimension"] == row["lower"] == row["upper"] == exactly(by_hand[row["layer"]])
            assert (row["step"], row["error"], row["n_points"]) == (7, 0.0, 300)
            assert row["n_features"] == by_hand[row["layer"]].shape[1]
            assert watch.results[row["layer"]].dimension == row["dimension"]

    def test_tolerance_is_certified(self, model: Any, points: Any) -> None:
        with LayerDimension(model, ["0"], rtol=0.05) as watch:
            model(points)
            (row,) = watch.measure()
        assert 0.0 < row["error"] <= 0.05
        assert row["lower"] <= exactly(model[0](points)) <= row["upper"]

    def test_options(self, model: Any, points: Any) -> None:
        with LayerDimension(model, ["0"], rtol=0.0, normalize=False, n_threads=1) as watch:
            model(points)
            (row,) = watch.measure()
        own = geodim.intrinsic_dimension(model[0](points).detach().numpy(), normalize=False)
        assert row["dimension"] == own.dimension != exactly(model[0](points))
        assert watch.results["0"].parameters["n_threads"] == 1

    def test_batches_add_up(self, model: Any, points: Any) -> None:
        with LayerDimension(model, ["0"], rtol=0.0) as watch:
            for batch in points.split(70):
                model(batch)
            (row,) = watch.measure()
            model(points[:50])
            (later,) = watch.measure()
        assert row["n_points"] == 300
        # Float32, another batch.
        assert row["dimension"] == pytest.approx(exactly(model[0](points)), rel=1e-5)
        assert (later["n_points"], later["dimension"]) == (50, exactly(model[0](points[:50])))
        assert [row["step"], later["step"]] == [0, 1]
        assert watch.rows == [row, later]

    def test_whole_training(self, model: Any, points: Any) -> None:
        targets = (points[:, 0] > 0).long()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        by_hand = []
        with LayerDimension(model, ["4"], rtol=0.0) as watch:
            for epoch in range(3):
                model.train()
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(points), targets).backward()
                optimizer.step()
                model.eval()
                with torch.inference_mode():
                    by_hand.append(exactly(model(points)))
                watch.measure(epoch)
        assert [(row["step"], row["dimension"]) for row in watch.rows] == list(enumerate(by_hand))
        assert len(set(by_hand)) == 3


class TestLayers:
    def test_all_leaves_by_default(self, model: Any, points: Any) -> None:
        with LayerDimension(model) as watch:
            model(points)
            rows = watch.measure()
        assert [row["layer"] for row in rows] == watch.layers == ["0", "1", "2", "3", "4"]

    def test_the_model_itself(self, points: Any) -> None:
        layer = torch.nn.Linear(6, 3)
        for chosen in (None, [""]):
            with LayerDimension(layer.eval(), chosen, rtol=0.0) as watch:
                output = layer(points)
                (row,) = watch.measure()
            assert (row["layer"], row["dimension"]) == ("", exactly(output))
        assert [text.get_text() for text in watch.plot().get_legend().get_texts()] == ["Linear"]

    def test_tuples_and_more_axes(self, points: Any) -> None:
        lstm = torch.nn.LSTM(3, 5, batch_first=True).eval()
        series = points.reshape(150, 4, 3)
        with LayerDimension(lstm, [""], rtol=0.0) as watch:
            output, _ = lstm(series)
            (row,) = watch.measure()
        assert (row["n_points"], row["n_features"]) == (150, 20)
        assert row["dimension"] == exactly(output.reshape(150, 20))

    def test_mappings_and_images(self, points: Any) -> None:
        class Named(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.body = torch.nn.Conv2d(1, 2, 3)

            def forward(self, x: Any) -> dict[str, Any]:
                return {"loss": None, "hidden": [self.body(x)]}

        net = Named().eval()
        images = points.flatten()[: 1800 // 36 * 36].reshape(50, 1, 6, 6)
        with LayerDimension(net, ["body", ""], rtol=0.0) as watch:
            output = net(images)["hidden"][0]
            body, whole = watch.measure()
        assert body["n_features"] == 2 * 4 * 4
        assert body["dimension"] == whole["dimension"] == exactly(output.reshape(50, -1))

    def test_one_number_per_point(self, points: Any) -> None:
        net = torch.nn.Sequential(torch.nn.Linear(6, 1), torch.nn.Flatten(0)).eval()
        with LayerDimension(net, ["1"], rtol=0.0) as watch:
            output = net(points)
            (row,) = watch.measure()
        assert output.shape == (300,)
        assert (row["n_features"], row["dimension"]) == (1, exactly(output[:, None]))

    @pytest.mark.parametrize("kind", ["float16", "bfloat16", "float64"])
    def test_types(self, kind: str, points: Any) -> None:
        net = torch.nn.Identity().eval()
        values = points.to(getattr(torch, kind))
        with LayerDimension(net, rtol=0.0) as watch:
            net(values)
            (row,) = watch.measure()
        assert row["dimension"] == exactly(values.to(torch.float64 if kind == "float64" else torch.float32))

    def test_in_place_layers_do_not_reach_back(self, points: Any) -> None:
        net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(inplace=True)).eval()
        with LayerDimension(net, rtol=0.0) as watch, torch.no_grad():
            net(points)
            first, second = watch.measure()
        assert first["dimension"] == exactly(net[0](points)) != second["dimension"]

    def test_layers_that_never_run_are_left_out(self, points: Any) -> None:
        net = torch.nn.MultiheadAttention(6, 2, batch_first=True).eval()
        outer = torch.nn.ModuleDict({"attention": net, "used": torch.nn.Linear(6, 6)}).eval()
        with LayerDimension(outer) as watch:
            x = points.reshape(60, 5, 6)
            outer["used"](net(x, x, x)[0])
            rows = watch.measure()
        assert "attention.out_proj" in watch.layers
        assert [row["layer"] for row in rows] == ["used"]
        with LayerDimension(outer, ["used", "attention.out_proj"]) as watch:
            outer["used"](x)
            with pytest.raises(InputValueError, match=r"'attention.out_proj' produced nothing"):
                watch.measure()


class TestConstant:
    def test_infinite_without_noise(self, points: Any) -> None:
        """Warnings are errors here, so that any would be seen."""
        net = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.Linear(4, 2)).eval()
        with torch.no_grad():
            net[0].weight.zero_()
        with LayerDimension(net, ["0"]) as watch:
            net(points)
            (row,) = watch.measure()
            net(points[:1])
            (single,) = watch.measure()
        assert row["dimension"] == row["lower"] == row["upper"] == math.inf
        assert row["error"] == 0.0
        assert (single["dimension"], single["n_points"]) == (math.inf, 1)
        ax = watch.plot()
        assert ax.lines[0].get_xdata().size == 0


class TestSample:
    def test_bounded_and_drawn_from_all(self) -> None:
        net = torch.nn.Identity().eval()
        values = torch.arange(1000.0, dtype=torch.float64)[:, None]
        with LayerDimension(net, max_points=100, rtol=0.0) as watch:
            for batch in values.split(64):
                net(batch)
                assert len(watch._samples[""].rows) <= 100
            kept = watch._samples[""].points()[:, 0].copy()
            (row,) = watch.measure()
        assert row["n_points"] == 100
        assert len(np.unique(kept)) == 100
        assert set(kept) <= set(range(1000))
        # Of 100 draws from 0..999 without repetition the mean has the deviation 27.4;
        # five of them are never seen.
        assert abs(kept.mean() - 499.5) < 5 * 27.4
        assert row["dimension"] == geodim.intrinsic_dimension(kept[:, None]).dimension

    def test_the_same_points_for_all_layers_steps_and_batch_sizes(self, model: Any, points: Any) -> None:
        def rows(size: int, **options: Any) -> list[dict[str, Any]]:
            with LayerDimension(model, ["0", "4"], max_points=50, rtol=0.0, **options) as watch:
                for _ in range(2):
                    for batch in points.split(size):
                        model(batch)
                    watch.measure(0)
            return watch.rows

        first = rows(300)
        assert first[:2] == first[2:]
        for one, other in zip(rows(7), first, strict=True):
            assert one["dimension"] == pytest.approx(other["dimension"], rel=1e-5)  # float32, other batches
        assert rows(300, seed=1) != first
        chosen = np.sort(np.argsort(np.random.default_rng(0).random(300), kind="stable")[:50])
        assert first[0]["dimension"] == exactly(model[0](points)[chosen])
        assert first[1]["dimension"] == exactly(model(points)[chosen])

    def test_memory_follows_what_came(self) -> None:
        net = torch.nn.Identity().eval()
        with LayerDimension(net, max_points=10**9) as watch:
            net(torch.randn(10, 1000))
            assert watch._samples[""].rows.nbytes == 40_000
            net(torch.randn(5, 1000))
            assert watch._samples[""].rows.nbytes <= 80_000
            assert watch.measure()[0]["n_points"] == 15


class TestTheModelStaysAsItWas:
    def test_hooks_modes_weights(self, model: Any, points: Any) -> None:
        model[1].train()  # a model may be in both modes at once
        before = copy.deepcopy(model.state_dict())
        modes = [module.training for module in model.modules()]
        model[1].momentum = 0.0
        plain = model(points)
        with LayerDimension(model) as watch:
            watched = model(points)
            watch.measure()
        assert torch.equal(plain, watched)
        assert [module.training for module in model.modules()] == modes
        assert all(not module._forward_hooks for module in model.modules())
        counter = "1.num_batches_tracked"
        assert all(
            torch.equal(before[name], value) for name, value in model.state_dict().items() if name != counter
        )
        assert not watch._samples

    def test_hooks_go_when_something_fails(self, model: Any) -> None:
        watch = LayerDimension(model)
        with pytest.raises(ZeroDivisionError), watch:
            raise ZeroDivisionError
        assert all(not module._forward_hooks for module in model.modules())

    def test_gradients_pass_and_no_graph_is_held(self, model: Any, points: Any) -> None:
        with LayerDimension(model) as watch:
            output = model(points)
            output.square().mean().backward()
            assert all(parameter.grad is not None for parameter in model.parameters())
            alive = weakref.ref(output)
            del output
            gc.collect()
            assert alive() is None
            assert watch.measure()

    def test_nothing_is_recorded_in_training_mode(self, model: Any, points: Any) -> None:
        with LayerDimension(model) as watch:
            model.train()
            model(points)
            assert not watch._samples
            with pytest.raises(InputValueError, match=r"model.eval\(\)"):
                watch.measure()
        with LayerDimension(model, ["0"], training=True) as watch:
            model(points)
            assert watch.measure()[0]["n_points"] == 300

    def test_copies_are_not_watched(self, model: Any, points: Any) -> None:
        with LayerDimension(model, ["0"]) as watch:
            model(points)
            copy.deepcopy(model)(points)
            assert watch.measure()[0]["n_points"] == 300

    def test_attach_and_detach(self, model: Any, points: Any) -> None:
        watch = LayerDimension(model, ["0"]).attach().attach()  # twice is once
        model(points)
        assert watch.measure()[0]["n_points"] == 300
        assert "watching" in repr(watch)
        watch.detach()
        watch.detach()
        model(points)
        with pytest.raises(InputValueError, match="inside the with block"):
            watch.measure()
        assert len(watch.rows) == 1
        assert "not attached" in repr(watch)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no CUDA device")
def test_cuda(model: Any, points: Any) -> None:
    model, points = model.cuda(), points.cuda()
    for most in (1000, 50):
        with LayerDimension(model, ["0"], rtol=0.0, max_points=most) as watch:
            model(points)
            (row,) = watch.measure()
        chosen = np.sort(np.argsort(np.random.default_rng(0).random(300), kind="stable")[:most])
        assert row["dimension"] == exactly(model[0](points).cpu()[chosen])


def test_every(model: Any, points: Any) -> None:
    with LayerDimension(model, ["0"], every=3) as watch:
        for epoch in range(7):
            model(points)
            assert bool(watch._samples) is (epoch % 3 == 0)
            assert bool(watch.measure(epoch)) is (epoch % 3 == 0)
    assert [row["step"] for row in watch.rows] == [0, 3, 6]
    assert {row["n_points"] for row in watch.rows} == {300}


class TestErrors:
    def test_unknown_layer(self, model: Any) -> None:
        with pytest.raises(InputValueError, match=r"no layer 'relu': it has '0', '1', '2', '3', '4'$"):
            LayerDimension(model, ["0", "relu"])
        deep = torch.nn.Sequential(*[torch.nn.Identity() for _ in range(25)])
        with pytest.raises(InputValueError, match="'19' and 5 more"):
            LayerDimension(deep, ["25"])

    @pytest.mark.parametrize(
        ("options", "error", "match"),
        [
            ({"layers": "0"}, InputTypeError, "list of names"),
            ({"layers": 0}, InputTypeError, "list of names"),
            ({"layers": []}, InputValueError, "empty"),
            ({"every": 0}, InputValueError, "every"),
            ({"every": 1.5}, InputTypeError, "every"),
            ({"max_points": 1}, InputValueError, "max_points"),
            ({"max_points": True}, InputTypeError, "max_points"),
            ({"seed": -1}, InputValueError, "seed"),
            ({"rtol": -1.0}, InputValueError, "rtol"),
            ({"n_threads": 0}, InputValueError, "n_threads"),
        ],
    )
    def test_options(self, model: Any, options: Any, error: type[Exception], match: str) -> None:
        with pytest.raises(error, match=match):
            LayerDimension(model, **options)

    def test_no_model(self) -> None:
        with pytest.raises(InputTypeError, match="not ndarray"):
            LayerDimension(np.eye(3))

    def test_what_layers_return(self, points: Any) -> None:
        class Returning(torch.nn.Module):
            answer: Any = None

            def forward(self, _x: Any) -> Any:
                return self.answer

        net = Returning().eval()
        for answer, error, match in [
            ("text", InputTypeError, "returns a str, not a tensor"),
            ((None, 3), InputTypeError, "returns a tuple, not a tensor"),
            (torch.eye(3).to(torch.complex64), InputTypeError, "real and dense"),
            (torch.eye(3).to_sparse(), InputTypeError, "real and dense"),
            (torch.tensor(1.0), ShapeError, "a single number"),
        ]:
            net.answer = answer
            with LayerDimension(net, [""]), pytest.raises(error, match=match):
                net(points)

    def test_other_widths(self, points: Any) -> None:
        net = torch.nn.Identity().eval()
        with LayerDimension(net, [""]):
            net(points)
            with pytest.raises(ShapeError, match="returns 3 values per point after 6"):
                net(points[:, :3])

    def test_not_finite(self, model: Any, points: Any) -> None:
        points[3, 0] = math.nan
        with LayerDimension(model, ["4"]) as watch:
            model(points)
            with pytest.raises(NonFiniteError, match="layer '4': "):
                watch.measure()
            assert watch.rows == []


def test_plot(model: Any, points: Any) -> None:
    pytest.importorskip("matplotlib")
    with LayerDimension(model, ["0", "4"]) as watch:
        for epoch in range(3):
            model(points * (epoch + 1.0))
            watch.measure(epoch)
    ax = watch.plot(title="layers")
    assert ax.get_title(loc="left") == "layers"
    for line, layer in zip(ax.lines, ["0", "4"], strict=True):
        assert line.get_label() == f"{layer} Linear"
        rows = [row for row in watch.rows if row["layer"] == layer]
        assert line.get_xdata().tolist() == [0, 1, 2]
        assert line.get_ydata().tolist() == [row["dimension"] for row in rows]
    assert watch.plot(ax, log=True) is ax
    assert ax.get_yscale() == "log"


def test_without_torch() -> None:
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "import geodim\n"
        "from geodim.errors import MissingExtraError\n"
        "try:\n    geodim.torch\n"
        "except MissingExtraError as error:\n    print(error)\n"
    )
    answer = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert "geodim[gnn]" in answer


def test_one_of_the_modules_of_geodim() -> None:
    assert geodim.torch.LayerDimension is LayerDimension
    assert geodim.torch.layers.torch is torch  # the package of that name, not itself
    assert "torch" not in geodim.__all__  # a star import must neither need nor hide PyTorch
