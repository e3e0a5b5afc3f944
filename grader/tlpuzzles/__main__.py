"""`python -m tlpuzzles`, for where the script `tlpuzzles` is not on the path."""

from tlpuzzles.cli import main

if __name__ == "__main__":
    main()
