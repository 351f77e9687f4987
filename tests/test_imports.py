"""The library stands alone: no Streamlit, no Plotly unless figures are asked for."""

import pkgutil
import subprocess
import sys

import pytest

import collab_core

MODULES = [name for _, name, _ in pkgutil.iter_modules(collab_core.__path__, "collab_core.")]


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


@pytest.mark.parametrize("module", MODULES)
def test_every_module_imports_on_its_own(module):
    result = run(f"import sys, {module}; sys.exit('streamlit' in sys.modules)")
    assert result.returncode == 0, result.stderr
