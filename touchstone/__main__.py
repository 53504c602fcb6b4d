"""`python -m touchstone`: the `touchstone` command."""

from touchstone.harness.__main__ import main

if __name__ == "__main__":
    main(prog_name="touchstone")
