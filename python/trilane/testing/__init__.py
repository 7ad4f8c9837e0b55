"""Help for tests of programs that run on Trilane."""
