"""``python -m benchmarks [name ...]``: print the tables, all of them or those named."""

import sys

from . import census, dashboard, library, simulation, tabular

MODULES = {
    "library": library,
    "simulation": simulation,
    "census": census,
    "tabular": tabular,
    "dashboard": dashboard,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or MODULES:
        MODULES[name].run()
