"""mdBook preprocessor: puts the listings back that the Markdown only names.

The Markdown says {{#include …}} where a listing stands. RUST_DOCS names the folder of the same
book as built for Rust 1.95.0 (component rust-docs); its pages have the same code blocks in the
same order, so the n-th block there fills the n-th block here. <Listing> becomes <figure>.
"""

import html
import json
import os
import pathlib
import re
import sys

FENCE = re.compile(r"^(?P<indent>[> ]*)```(?P<info>.*)$")
ATTRIBUTE = r"""([a-z-]+)=("[^"]*"|'[^']*')"""
LISTING = re.compile(rf"<Listing(?P<attributes>(\s+{ATTRIBUTE})*)\s*>|</Listing>")
BORING = re.compile(r'<span class="boring">.*?</span>', re.DOTALL)


def built_blocks(page, expected):
    """The texts of a built page's code blocks, or [] if they are not as many as expected."""
    source = (pathlib.Path(os.environ["RUST_DOCS"]) / page).read_text(encoding="utf-8")
    for pattern in [r"<pre[^>]*>(.*?)</pre>", r'<pre[^>]*><code class="language-[^>]*>(.*?)</pre>']:
        blocks = re.findall(pattern, source, re.DOTALL)
        if len(blocks) == expected:
            return [html.unescape(re.sub(r"<[^>]+>", "", BORING.sub("", block))) for block in blocks]
    return []


def fill_listings(lines, blocks):
    """The lines with the content of each block that is an include replaced, or the block left out."""
    filled, block, number = [], None, 0
    for line in lines:
        fence = FENCE.match(line)
        if block is None and fence:
            block = [fence["indent"] + "```" + without_playground(fence["info"])]
        elif block is None:
            filled.append(line)
        elif not fence:
            block.append(line)
        else:
            indent = fence["indent"]
            if "{{#" in "".join(block):
                code = blocks[number].strip("\n") if blocks else ""
                block = block[:1] + [indent + row for row in code.splitlines()] if code else []
            filled.extend(block + [line] if block else [])
            block, number = None, number + 1
    return filled


def without_playground(info):
    return info + ",noplayground" if info.startswith("rust") else info


def open_listing(attributes):
    attributes = {name: value[1:-1] for name, value in re.findall(ATTRIBUTE, attributes)}
    number, caption = attributes.get("number"), attributes.get("caption", "")
    captions.append((number, inline(caption)))
    opening = f'<figure class="listing" id="listing-{number}">' if number else '<figure class="listing">'
    if name := attributes.get("file-name"):
        opening += f'<span class="file-name">Filename: {name}</span>'
    return opening


def inline(markdown):
    """Code and emphasis, all that captions use, as HTML."""
    text = html.escape(html.unescape(markdown), quote=False)
    return re.sub(r"\*([^*`]+)\*", r"<em>\1</em>", re.sub(r"`([^`]*)`", r"<code>\1</code>", text))


def close_listing():
    number, caption = captions.pop()
    label = f'<a href="#listing-{number}">Listing {number}</a>: ' if number else ""
    return (f"<figcaption>{label}{caption}</figcaption>" if label or caption else "") + "</figure>"


def rewrite(chapter):
    lines = chapter["content"].splitlines()
    count = sum(1 for line in lines if FENCE.match(line)) // 2
    page = pathlib.Path(chapter["path"]).with_suffix(".html")
    blocks = built_blocks(page, count) if "{{#" in chapter["content"] else []
    if not blocks and "{{#" in chapter["content"]:
        print(f"{page}: listings left out, the code blocks do not match", file=sys.stderr)
    text = "\n".join(fill_listings(lines, blocks))
    chapter["content"] = LISTING.sub(figure, text)
    for item in chapter["sub_items"]:
        if "Chapter" in item:
            rewrite(item["Chapter"])


def figure(match):
    return close_listing() if match[0].startswith("</") else open_listing(match["attributes"])


captions = []
if sys.argv[1:2] != ["supports"]:
    _, book = json.load(sys.stdin)
    for item in book["items"]:
        if "Chapter" in item:
            rewrite(item["Chapter"])
    json.dump(book, sys.stdout)
