// Storage: what an array's elements live in, shared by all its views: device memory, or an
// expression that becomes memory when somebody asks for it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "array/expression.h"
#include "core/buffer.h"

namespace trilane::array {

class Storage {
  public:
    explicit Storage(core::BufferPtr memory) : memory_(std::move(memory)), ready_(true) {}
    explicit Storage(std::unique_ptr<Expression> pending) : pending_(std::move(pending)) {}

    bool pending() const { return !ready_.load(std::memory_order_acquire); }
    // The memory; evaluates the expression first if there is one. After an evaluation that threw
    // the expression is kept, so the next call tries again. Any thread.
    const core::BufferPtr& memory() {
        if (pending()) [[unlikely]]
            evaluate();
        return memory_;
    }

  private:
    void evaluate();
    core::BufferPtr memory_;
    std::unique_ptr<Expression> pending_;
    std::atomic<bool> ready_{false};
    std::mutex mutex_;
};
using StoragePtr = std::shared_ptr<Storage>;

}  // namespace trilane::array
