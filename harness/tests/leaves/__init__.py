"""The leaf test changes each leaf of each recorded answer, and asks whether the judge sees it.

A normalisation that forgives too much makes no test red by itself: all that it hides goes unseen.
So real Kafka's recorded answers are doctored one leaf at a time, as bytes, and the comparison and
the checkers judge what was doctored against what was recorded. What neither of them sees stands in
`golden/forgiven.toml` with the rule that forgives it and the reason; a change that is unseen and is
not there is red, and so is a row there of what is seen.

`values` changes fields, `record_bytes` records within their batches, `endings` how a step ended.
`trials` finds the places to change, once each, and `judging` asks the judge. `forgiven` reads and
writes the list: `python -m touchstone.harness.tests.leaves` says how.
"""
