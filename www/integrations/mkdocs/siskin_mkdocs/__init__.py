"""The MkDocs plugin ``siskin``: indexes what ``mkdocs build`` wrote, and puts the box into its pages."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urlsplit

import siskin_integration
from mkdocs.config.base import ConfigErrors, ConfigWarnings
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from siskin_integration import SCRIPT, SiskinError

#: The bar above the pages of Material for MkDocs, without its end.
_BAR = re.compile(r'<nav class="md-header__inner.*?(?=</nav>)', re.DOTALL)

#: Material's colours; as tall as the bar's other parts.
_STYLE = """<style>
siskin-search {
  --siskin-background: var(--md-default-bg-color); --siskin-text: var(--md-default-fg-color);
  --siskin-muted: var(--md-default-fg-color--light); --siskin-border: var(--md-default-fg-color--lighter);
  --siskin-accent: var(--md-typeset-a-color);
  --siskin-font: .8rem/1.45 var(--md-text-font-family); margin-inline: .4rem; min-height: 1.8rem;
}
siskin-search::part(button) { padding: .3em .6em; }
</style>
"""


class SiskinPlugin(BasePlugin):
    """Its options are the attributes of ``<siskin-search>``, as Siskin's documentation describes them."""

    #: Whether ``mkdocs serve`` runs. It reads the options anew at every change, and tells its name once.
    served = False

    def load_config(
        self, options: dict, config_file_path: str | None = None
    ) -> tuple[ConfigErrors, ConfigWarnings]:
        """Takes the options over; MkDocs prints what is wrong with them."""
        try:
            self.box = siskin_integration.box(options)
        except SiskinError as error:
            return [("siskin", error)], []
        return [], []

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """``mkdocs serve`` builds at every change, into a folder that it forgets: nothing is indexed."""
        self.served = command == "serve"

    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str:
        """The page with the box."""
        return self._with_box(output, get_relative_url(SCRIPT, page.url))

    def on_post_template(self, output: str, *, template_name: str, config: MkDocsConfig) -> str:
        """The page that is shown at any address, 404.html, with the box."""
        if template_name != "404.html":
            return output
        base = urlsplit(config.site_url or "/").path
        return self._with_box(output, f"{base.rstrip('/')}/{SCRIPT}")

    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Indexes the site."""
        if self.served:
            return
        try:
            siskin_integration.index(config.site_dir)
        except SiskinError as error:
            raise PluginError(f"siskin: {error}") from error

    def _with_box(self, output: str, address: str) -> str:
        if self.served:
            return output
        if "<siskin-search" not in output:
            bar = _BAR.search(output)
            if bar is None:
                raise PluginError(
                    "siskin: the theme has no bar that the search box is known to belong to; put "
                    "<siskin-search></siskin-search> into a template of your own (custom_dir)"
                )
            output = output[: bar.end()] + self.box + output[bar.end() :]
        return output.replace("</head>", f"{siskin_integration.script(address)}\n{_STYLE}</head>", 1)
