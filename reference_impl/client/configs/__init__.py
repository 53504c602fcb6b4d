"""Java's client configuration: names, types, defaults, validators and messages, as data.

`definitions` holds the tables (`*.json`), `parsing` and `validators` read and check one value,
`client_config` a whole set; `producer_config`, `consumer_config` and `admin_config` add what a
client checks across names, and say which of its names this client obeys.
"""
