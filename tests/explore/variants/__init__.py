"""Wrong variants of the library, each a small edit of its source, and the scenario that finds it out.

tests/host/test_variants.py makes each edit in a copy of lib/buslock and expects that scenario to fail. An edit whose
text is not in the source any more fails as well: then the variant has to be made anew for the code as it is.
"""

from . import deadlines, lazies, locks, tables

VARIANTS = locks.VARIANTS + tables.VARIANTS + deadlines.VARIANTS + lazies.VARIANTS
