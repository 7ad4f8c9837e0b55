// Encoding of what the compiler leaves behind: little-endian fixed fields, strings and lists with
// their length first. One list of fields, over Writer or Reader, serves both ways.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "core/error.h"
#include "devices/cpu/compile/front_end.h"

namespace trilane::cpu {

class Writer {
  public:
    explicit Writer(std::string& out) : out_(out) {}
    void raw(const void* data, size_t nbytes) {
        out_.append(static_cast<const char*>(data), nbytes);
    }
    template <typename T>
    void field(T& value) {
        if constexpr (std::is_enum_v<T>) {
            auto number = static_cast<int64_t>(value);
            raw(&number, sizeof number);
        } else if constexpr (std::is_same_v<T, bool>) {
            uint8_t byte = value;
            raw(&byte, 1);
        } else {
            static_assert(std::is_integral_v<T>);
            raw(&value, sizeof value);
        }
    }
    void field(std::string& text) {
        auto nbytes = uint64_t(text.size());
        field(nbytes);
        raw(text.data(), text.size());
    }
    template <typename T, typename Each>
    void list(std::vector<T>& items, Each each) {
        auto count = uint64_t(items.size());
        field(count);
        for (T& item : items) each(item);
    }

  private:
    std::string& out_;
};

// InvalidArgument where the bytes end too early; never reads outside them.
class Reader {
  public:
    explicit Reader(const std::string& bytes, size_t start = 0)
        : next_(bytes.data() + start), left_(bytes.size() - start) {}
    void raw(void* data, size_t nbytes) {
        if (nbytes > left_)
            core::throw_error(core::ErrorKind::InvalidArgument,
                              "image of the cpu device: cut off: {} bytes missing", nbytes - left_);
        std::memcpy(data, next_, nbytes);
        next_ += nbytes;
        left_ -= nbytes;
    }
    template <typename T>
    void field(T& value) {
        if constexpr (std::is_enum_v<T>) {
            int64_t number = 0;
            raw(&number, sizeof number);
            value = static_cast<T>(number);
        } else if constexpr (std::is_same_v<T, bool>) {
            uint8_t byte = 0;
            raw(&byte, 1);
            value = byte != 0;
        } else {
            raw(&value, sizeof value);
        }
    }
    void field(std::string& text) {
        uint64_t nbytes = 0;
        field(nbytes);
        if (nbytes > left_)
            core::throw_error(core::ErrorKind::InvalidArgument, "image of the cpu device: cut off");
        text.assign(next_, nbytes);
        next_ += nbytes;
        left_ -= nbytes;
    }
    template <typename T, typename Each>
    void list(std::vector<T>& items, Each each) {
        uint64_t count = 0;
        field(count);
        if (count > left_)  // an item has a byte at least
            core::throw_error(core::ErrorKind::InvalidArgument, "image of the cpu device: damaged");
        items.resize(count);
        for (T& item : items) each(item);
    }
    size_t left() const { return left_; }

  private:
    const char* next_;
    size_t left_;
};

template <typename Archive>
void parameter_fields(Archive& archive, core::Parameter& parameter) {
    archive.field(parameter.name);
    archive.field(parameter.c_type);
    archive.field(parameter.kind);
    archive.field(parameter.size);
    archive.field(parameter.align);
    archive.field(parameter.pointee_size);
    archive.field(parameter.pointee_kind);
    archive.field(parameter.pointee_const);
}

template <typename Archive>
void description_fields(Archive& archive, KernelDescription& kernel) {
    archive.field(kernel.name);
    archive.field(kernel.max_threads_per_block);
    archive.field(kernel.cluster.x);
    archive.field(kernel.cluster.y);
    archive.field(kernel.cluster.z);
    archive.field(kernel.line);
    archive.field(kernel.file);
    archive.list(kernel.parameters,
                 [&](core::Parameter& parameter) { parameter_fields(archive, parameter); });
}

}  // namespace trilane::cpu
