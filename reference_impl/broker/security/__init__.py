"""Who a peer is: the exchange on a SASL listener before anything else is served."""
