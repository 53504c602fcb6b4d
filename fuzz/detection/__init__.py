"""Which planted defects the fuzzer finds: what `harness.run.detection` is to the suites."""
