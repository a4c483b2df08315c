"""`python -m codegen`."""

from codegen.cli import main

if __name__ == "__main__":
    main()
