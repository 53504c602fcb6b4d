"""What MkDocs calls: generated pages come in with those of docs/, claims are written behind."""

from __future__ import annotations

import json
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from ci.docs import catalogue, reference


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Generated pages; one that stands in docs/ under the same name is a mistake."""
    for path, text in {**reference.pages(), **catalogue.pages()}.items():
        if files.get_file_from_path(path) is not None:
            raise ValueError(f"docs/{path} is generated; take the file away")
        files.append(File.generated(config, path, content=text))
    return files


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
