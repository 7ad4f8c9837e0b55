// <driver_types.h> for kernels: the runtime's types are the host's.
#pragma once
