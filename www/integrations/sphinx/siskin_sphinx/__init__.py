"""The Sphinx extension: indexes what the HTML builders wrote, and puts the box where the theme has its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import siskin_integration
from docutils.nodes import Node
from siskin_integration import SCRIPT, SiskinError
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError, ExtensionError
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

_LOGGER = logging.getLogger(__name__)

#: One template for each name by which a theme includes its own search.
_TEMPLATES = Path(__file__).parent / "templates"

#: Builders whose pages are served as they are.
_BUILDERS = ("html", "dirhtml")

#: Themes that the reader can switch, each with colours that the style below knows. Others are light.
_SWITCHED = ("furo", "pydata_sphinx_theme")

_STYLE = """<style>
siskin-search {
  --siskin-background: var(--pst-color-background, var(--color-background-primary));
  --siskin-text: var(--pst-color-text-base, var(--color-foreground-primary));
  --siskin-muted: var(--pst-color-text-muted, var(--color-foreground-secondary));
  --siskin-border: var(--pst-color-border, var(--color-background-border));
  --siskin-accent: var(--pst-color-link, var(--color-link));
  min-height: 2.5rem; margin: .5rem;
}
</style>"""


def setup(app: Sphinx) -> ExtensionMetadata:
    """Called by Sphinx; the configuration value ``siskin`` holds attributes of ``<siskin-search>``."""
    app.add_config_value("siskin", {}, "html", (dict,), "Attributes of <siskin-search>.")
    app.connect("config-inited", _configure)
    # Before PyData's theme looks which of its parts are empty.
    app.connect("html-page-context", _add_box, priority=400)
    app.connect("build-finished", _index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _configure(app: Sphinx, config: Config) -> None:
    """Checks the options; templates of the project count more than ours, and ours more than the theme's."""
    try:
        siskin_integration.box(config.siskin)
    except SiskinError as error:
        raise ConfigError(f"siskin in conf.py: {error}") from error
    config.templates_path = [*config.templates_path, str(_TEMPLATES)]


def _add_box(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Node | None
) -> None:
    """Gives the templates the box; pages that no template belongs to have no head either."""
    if app.builder.name not in _BUILDERS:
        context["siskin_box"] = ""
        return
    box = siskin_integration.box(app.config.siskin)
    if app.config.html_theme not in _SWITCHED:
        box = box.replace("<siskin-search", '<siskin-search data-theme="light"', 1)
    context["siskin_box"] = box
    # PyData's own dialog answers to the same keys.
    context["theme_disable_search"] = True
    script = siskin_integration.script(context["pathto"](SCRIPT, resource=True))
    context["metatags"] = f"{context.get('metatags', '')}\n{script}\n{_STYLE}"


def _index(app: Sphinx, failure: Exception | None) -> None:
    if failure is not None or app.builder.name not in _BUILDERS:
        return
    first = Path(app.outdir, f"{app.config.root_doc}.html")
    if first.is_file() and "<siskin-search" not in first.read_text(encoding="utf-8"):
        _LOGGER.warning(
            "the theme %s has no search of its own that siskin could replace; put {{ siskin_box }} into "
            "a template of yours",
            app.config.html_theme,
        )
    try:
        siskin_integration.index(app.outdir)
    except SiskinError as error:
        raise ExtensionError(f"siskin: {error}") from error
