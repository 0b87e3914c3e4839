"""Sphinx settings for the pages that ``website/build.py`` has laid out."""

from __future__ import annotations

from pygments.lexers.special import TextLexer
from sphinx.highlighting import lexers

import elanite

project = "Elanite"
author = "The Elanite developers"
copyright = author  # noqa: A001 - Sphinx asks for this name
version = release = elanite.__version__
html_title = f"Elanite {release}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "sphinx_design"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
# The command and its comment are copied, not the prompt.
copybutton_prompt_text = "$ "

html_theme = "furo"
# No buttons that lead to a page's source: pages are laid out from files elsewhere, or generated
# from the program.
html_theme_options = {"top_of_page_buttons": []}
html_static_path = ["_static"]
html_css_files = ["results.css", "pages.css"]
html_show_sphinx = False
html_copy_source = False

lexers["csv"] = TextLexer()  # Pygments knows no CSV
