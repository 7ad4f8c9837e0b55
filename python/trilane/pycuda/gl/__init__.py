"""OpenGL interoperation is not there: importing it fails as in a PyCUDA built without it."""

raise ImportError("PyCUDA was compiled without GL extension support")
