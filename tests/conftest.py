"""Makes pytest collect the device-side tests, once for every runtime: see tools/collection.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.collection import (  # noqa: F401
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_pycollect_makemodule,
    pytest_report_header,
    pytest_runtest_makereport,
    pytest_runtestloop,
    pytest_terminal_summary,
    pytest_unconfigure,
)
