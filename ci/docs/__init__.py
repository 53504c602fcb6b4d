"""The documentation site: `make docs` builds `docs/` and what is generated from the code.

    python -m ci.docs --out build/docs     build it strictly, then check every link of every page

`reference` makes pages from the code (commands, options, target files, results, the Python face),
`catalogue` a page for each claim, `hooks` hands both to MkDocs, `links` reads the built pages, and
`console` runs the commands that a page shows. Nothing that is generated is committed.
"""
