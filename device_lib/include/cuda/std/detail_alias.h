// cuda::std as another name of std.
#pragma once

namespace cuda {
namespace std = ::std;
}
