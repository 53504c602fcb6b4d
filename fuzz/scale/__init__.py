"""`touchstone fuzz --master URL --shards N`: a run spread over Spark tasks, each with a broker.

`tasks` is what a worker does, `driver` what is done before, between and after. Spark itself is
behind `harness.spark.shards`. The same seed gives the same findings on one machine, but for those
that need what earlier cases left behind in the target.
"""
