// Warp operations of a vector that is a whole warp.
#include "devices/cpu/lanes/emitter.h"

namespace trilane::cpu {

using namespace llvm;

bool LaneEmitter::emit_warp_operation(CallBase&, const SuspendForm&) { return false; }

}  // namespace trilane::cpu
