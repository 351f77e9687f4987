"""``python -m benchmarks``: print every table."""

from . import library

if __name__ == "__main__":
    library.run()
