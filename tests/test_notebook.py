"""The notebook in a real kernel: pictures are shown, bars are drawn, and no cell fails."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "examples/first_steps.ipynb"

nbformat = pytest.importorskip("nbformat", reason="notebooks need nbformat")
nbclient = pytest.importorskip("nbclient", reason="notebooks are executed by nbclient")
pytest.importorskip("ipykernel", reason="notebooks need a kernel")
pytest.importorskip("matplotlib", reason="the notebook draws: matplotlib is not installed")

# Of the packages between here and the kernel.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """All cells, with what they showed: one kernel for all tests here."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name.lower())))
        patch.delenv("MPLBACKEND", raising=False)  # the kernel chooses what a notebook has
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3")
        client.km = own_kernel()
        client.execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def own_kernel():
    """A kernel of this interpreter, whatever kernels are installed."""
    from ipykernel.kernelspec import make_ipkernel_cmd
    from jupyter_client import AsyncKernelManager
    from jupyter_client.kernelspec import KernelSpec

    manager = AsyncKernelManager(kernel_name="python3")
    manager._kernel_spec = KernelSpec(argv=make_ipkernel_cmd(executable=sys.executable), display_name="here")
    return manager


def kinds(cell):
    return [kind for output in cell.outputs for kind in output.get("data", {})]


def text_of(cell):
    return "".join(
        output.get("text", "") + "".join(output.get("data", {}).get("text/html", ""))
        for output in cell.outputs
    )


def test_every_plot_shows_its_picture(executed):
    plots = [cell for cell in executed if ".plot()" in cell.source]
    assert len(plots) == 4
    for cell in plots:
        assert "image/png" in kinds(cell), cell.source


def test_pictures_are_shown_once(executed):
    for cell in executed:
        assert kinds(cell).count("image/png") == cell.source.count(".plot()"), cell.source


def test_results_are_tables(executed):
    assert "intrinsic dimension" in text_of(executed[0])
    assert "<table>" in text_of(executed[0])


def test_progress_is_a_bar_that_ends_full(executed):
    for cell in executed:
        bars = re.findall(r'<progress value="(\d+)" max="(\d+)"', text_of(cell))
        assert bool(bars) is ("progress=True" in cell.source), cell.source
        assert all(done == total for done, total in bars[-1:])


def test_nothing_goes_wrong_on_the_way(executed):
    for cell in executed:
        for output in cell.outputs:
            assert output.output_type != "error"
            assert output.get("name") != "stderr" or "compiling" in output.text, output.text


def test_it_is_kept_without_what_it_shows():
    """Pictures in the repository would be out of date."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
