"""Claims: pure folds of what a runner observed into the predicate of a certificate."""
