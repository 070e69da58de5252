"""The search box as HTML, and the command that indexes a site: what Siskin's packages for generators share."""

from __future__ import annotations

import html
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping
from pathlib import Path

#: The attributes of ``<siskin-search>`` that may be set, with what each may be: ``bool``, ``str``, ``int``
#: (1 to 100), or the values that there are.
OPTIONS: Mapping[str, type | tuple[str, ...]] = {
    "modal": bool,
    "mode": ("words", "table", "full"),
    "encoder": ("off", "idle", "on-open"),
    "limit": int,
    "label": str,
    "placeholder": str,
    "shortcuts": str,
    "query-parameter": str,
    "text-fragments": ("off",),
    "recent": bool,
}

#: The script of the box, below the site's first folder.
SCRIPT = "siskin/siskin.js"


class SiskinError(Exception):
    """What went wrong, for people."""


def box(options: Mapping[str, object]) -> str:
    """The element with ``options``; ``modal`` is true where they do not say.

    Raises SiskinError where an option does not exist or cannot have its value.
    """
    attributes = {"modal": ""}
    for name, value in options.items():
        if name not in OPTIONS:
            raise SiskinError(f"there is no option {name}; there are {', '.join(OPTIONS)}")
        if value is None:
            continue
        attribute = _attribute(name, value)
        if attribute is None:
            attributes.pop(name, None)
        else:
            attributes[name] = attribute
    words = [name if not text else f'{name}="{html.escape(text)}"' for name, text in attributes.items()]
    return f"<{' '.join(['siskin-search', *words])}></siskin-search>"


def script(address: str) -> str:
    """The element that loads the box, from ``address`` as the page sees it."""
    return f'<script type="module" src="{html.escape(address)}"></script>'


def index(site: str | Path) -> None:
    """Indexes a built site with the command ``siskin``, which says itself what it did.

    Raises SiskinError where there is no such command, or it failed.
    """
    command = _command()
    try:
        ended = subprocess.run([command, "index", os.fspath(site)], check=False)
    except OSError as error:
        raise SiskinError(f"cannot run {command}: {error.strerror}") from error
    # 1: done, and single pages have something to mend, which the command named.
    if ended.returncode not in (0, 1):
        raise SiskinError("siskin index failed; its error stands above")


def _command() -> str:
    """The command that SISKIN_BINARY names, that of this environment, or the first one on PATH."""
    places = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    command = os.environ.get("SISKIN_BINARY") or shutil.which("siskin", path=places)
    if command is None:
        raise SiskinError("there is no command siskin; install it: pip install siskin")
    return command


def _attribute(name: str, value: object) -> str | None:
    """The attribute that says ``value``, none for false; raises where the option cannot have it."""
    kind = OPTIONS[name]
    if kind is bool:
        if isinstance(value, bool):
            return "" if value else None
        raise SiskinError(f"{name} must be true or false")
    if kind is str:
        if isinstance(value, str):
            return value
        raise SiskinError(f"{name} must be a text")
    if kind is int:
        if type(value) is int and 1 <= value <= 100:
            return str(value)
        raise SiskinError(f"{name} must be a number from 1 to 100")
    # The word off, in YAML.
    word = "off" if value is False else value
    if isinstance(word, str) and word in kind:
        return word
    raise SiskinError(f"{name} must be one of {', '.join(kind)}")
