"""How the site is built. Nothing is fetched while building, and the pages load nothing from other hosts."""

from importlib.metadata import version as installed_version

project = "Grampus"
author = "The Grampus contributors"
copyright = "The Grampus contributors"  # noqa: A001  (Sphinx asks for this name)
release = version = installed_version("grampus")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
default_role = "py:obj"

myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's Parameters sections say it in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = "Grampus"
html_copy_source = False
html_show_sphinx = False
