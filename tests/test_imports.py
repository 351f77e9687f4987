"""The library stands alone: no Streamlit, no Plotly unless figures are asked for."""

import pkgutil
import subprocess
import sys

import collab_core

MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(collab_core.__path__, "collab_core.")
    if not name.endswith("__main__")
]


def run(code: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_import_loads_no_dashboard():
    code = (
        "import sys, collab_core;"
        "unwanted = ('streamlit', 'plotly', 'folktables', 'distributed');"
        "print([name for name in unwanted if name in sys.modules])"
    )
    result = run(code)
    assert result.stdout.strip() == "[]", result.stdout + result.stderr


def test_no_module_needs_streamlit():
    # One process for all of them: starting Python and importing SciPy costs seconds.
    code = f"import importlib, sys\nfor name in {MODULES}:\n    importlib.import_module(name)\n"
    result = run(code + "sys.exit('streamlit' in sys.modules)")
    assert result.returncode == 0, result.stderr
