"""Shared by the three themes; build-theme.sh names the theme."""

import os
import sys

sys.path.insert(0, os.path.dirname(__file__))

project = "Heron"
author = "The Heron authors"
copyright = "2026, The Heron authors"
release = "1.0"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
