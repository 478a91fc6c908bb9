"""`python -m lockstep_verify` is `lockstep-verify`."""

import sys

from lockstep_verify.cli import main

sys.exit(main())
