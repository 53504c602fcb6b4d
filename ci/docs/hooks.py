"""What MkDocs calls: generated pages come in with those of docs/, claims are written behind."""

from __future__ import annotations

import json
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from ci.docs import catalogue, reference

# What the plugin `offline` has a page load for the search: from another host. Ours is in docs/.
SHIM, OURS = "https://unpkg.com/iframe-worker/shim", "search-from-disk.js"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Generated pages; one that stands in docs/ under the same name is a mistake."""
    for path, text in {**reference.pages(), **catalogue.pages()}.items():
        if files.get_file_from_path(path) is not None:
            raise ValueError(f"docs/{path} is generated; take the file away")
        files.append(File.generated(config, path, content=text))
    return files


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Every page loads what its search needs from its own site."""
    return output.replace(SHIM, get_relative_url(OURS, page.url))


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """Pages of the theme, which only a web server shows."""
    return output_content.replace(SHIM, f"/{OURS}")


def on_post_build(config: MkDocsConfig) -> None:
    """The pages of claims, and their entries in the search index and the list of pages."""
    site = Path(config.site_dir)
    entries = catalogue.write(site)
    index = site / "search" / "search_index.json"
    found = json.loads(index.read_text(encoding="utf-8"))
    found["docs"] += entries
    index.write_text(json.dumps(found, separators=(",", ":")), encoding="utf-8")
    for listed in (site / "sitemap.xml", site / "sitemap.xml.gz"):
        listed.unlink(missing_ok=True)  # of a site without an address it has nothing to say
    hidden = re.escape(Path(catalogue.TEMPLATE).stem)
    found = [path for path in site.rglob("*.html") if re.search(hidden, path.read_text("utf-8"))]
    if found:
        raise ValueError(f"{found[0]} still mentions the template of claims")
