"""The documentation site, for Sphinx; `docs/build.py` calls it on a copy of this folder.

Nothing is fetched while it is built, and nothing from other hosts while it is read: fonts, scripts and
formulas all lie in the folder that it writes.
"""

from __future__ import annotations

import gc
import os
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE / "_extensions"), str(ROOT / "src")]

from gallery_order import place_of
from sphinx_gallery.sorting import FunctionSortKey

from geodim import __version__

gc.disable()  # whatever is made is kept to the end of the build, and looking for garbage a fifth of its time

# What the examples and tutorials may look for stays within this folder, and nothing is downloaded.
os.environ["GEODIM_OFFLINE"] = "1"
metadata = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
addresses = metadata.get("urls", {})

quick = (
    os.environ.get("GEODIM_DOCS_QUICK") == "1"
)  # without what takes long: executed examples, pages of source

project = "geodim"
author = "The geodim developers"
copyright = "The geodim developers"
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinxext.opengraph",
    "command_line",
    "mathml",
    "once",
    "outside_links",
    "public_names",
]
if not quick:
    extensions.append("sphinx.ext.viewcode")  # the source of every module, as pages
nitpicky = True
# Types that are not ours: their documentation would have to be fetched.
nitpick_ignore_regex = [
    (r"py:.*", r"(numpy|np|numpy\.typing|npt|scipy|sparse|sklearn|torch|dask|pandas|plt|matplotlib)\..*"),
    (r"py:.*", r"(?!geodim)[\w.]*"),
    (r"py:.*", r"geodim\.\w+\..*"),  # what public names are made of
]
exclude_patterns = ["results/*.html"]

# Markdown: headings are anchors, as they are on GitHub.
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]  # the order of the gallery is an object, which has nothing to be kept

# The reference.
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False  # the class's page has them
numpydoc_attributes_as_param_list = True
add_module_names = False
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"
default_role = "name-or-code"
templates_path = [str(HERE / "_templates")]
autosummary_ignore_module_all = False
html_math_renderer = "mathml"
smartquotes = False  # options begin with two hyphens

# The gallery: examples and tutorials, executed unless the build is a quick one.
sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "examples"), str(HERE / "tutorials")],
    "gallery_dirs": ["gallery", "tutorials"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": FunctionSortKey(place_of),
    "plot_gallery": not quick,
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10_000,  # seconds of this machine say nothing
    "write_computation_times": False,
    "download_all_examples": False,
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib",),
    "thumbnail_size": (800, 340),
    "doc_module": ("geodim",),
    "backreferences_dir": "gallery/backreferences",
    "inspect_global_variables": False,
}

copybutton_exclude = ".linenos, .gp, .go"  # prompts and output stay behind

html_theme = "pydata_sphinx_theme"
html_title = f"geodim {version}"
html_static_path = [str(HERE / "_static")]
html_css_files = ["geodim.css"]
html_js_files = ["switcher.js"]
html_favicon = str(HERE / "_static" / "mark.svg")
html_copy_source = False
html_domain_indices = False
html_show_sourcelink = False
html_sidebars = {"index": [], "project/*": []}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {
        "text": "geodim",
        "image_light": "_static/mark.svg",
        "image_dark": "_static/mark.svg",
    },
    "navbar_start": ["navbar-logo", "version-switcher"],
    "switcher": {"json_url": "_static/switcher.json", "version_match": version},
    "check_switcher": False,  # it is looked for among the pages; tests/docs/test_versions.py checks it
    "show_version_warning_banner": True,  # of any version but the preferred one
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "icon_links": [
        {"name": name, "url": addresses[name], "icon": icon}
        for name, icon in (("Source", "fa-brands fa-github"), ("PyPI", "fa-brands fa-python"))
        if name in addresses
    ],
}

# What a link to the site shows elsewhere.
html_baseurl = addresses.get("Documentation", "")
ogp_site_url = html_baseurl
ogp_site_name = "geodim"
ogp_image = "_static/social.png"
ogp_image_alt = "geodim: how far can your features still tell your data points apart?"
ogp_social_cards = {"enable": False}
ogp_custom_meta_tags = ['<meta name="twitter:card" content="summary_large_image" />']
