"""How a client says who it is and looks whom it talks to; sockets and keys are `io`'s.

`security_settings` reads Java's option names, `mechanisms` are the client's sides of PLAIN, SCRAM
and OAUTHBEARER, `sasl_states` and `authenticator` the exchange on one connection.
"""
