"""The names of PyCUDA's helper package that other packages import."""
