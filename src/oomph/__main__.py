"""`python -m oomph`."""

import sys

from oomph.cli.main import main

sys.exit(main())
