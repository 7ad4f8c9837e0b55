"""`cupy_backends.cuda`: the runtime, the driver and streams."""
