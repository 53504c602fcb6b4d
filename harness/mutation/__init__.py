"""Small defects made by rule in the reference pair: does a case notice each of them?

`operators` changes a function's text, `planting` puts the changed code into this process, `reach`
measures which cases run which function, `campaign` asks them until one differs.
"""
