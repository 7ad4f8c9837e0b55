// A profiler as tests see it: a library that NVTX_INJECTION64_PATH names, which writes what it is
// told into the file TRILANE_FAKE_NVTX_LOG, a line for each event. With TRILANE_FAKE_NVTX_REFUSES
// it does not start.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

using AnyFunction = void (*)();
struct Event {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const char* message;
};
struct Callbacks {
    size_t size;
    int (*module_table)(int module, AnyFunction*** table, unsigned* count);
};

thread_local int depth = 0;
uint64_t last_range = 0;

void write(const char* what, const Event* event, uint64_t number) {
    std::FILE* file = std::fopen(std::getenv("TRILANE_FAKE_NVTX_LOG"), "a");
    if (file == nullptr) return;
    if (event == nullptr)
        std::fprintf(file, "%s %llu\n", what, static_cast<unsigned long long>(number));
    else if (event->version != 3 || event->size != sizeof(Event) || event->message_type != 1)
        std::fprintf(file, "not an event\n");
    else if (event->color_type == 0)
        std::fprintf(file, "%s '%s'\n", what, event->message);
    else
        std::fprintf(file, "%s '%s' %08x\n", what, event->message, event->color);
    std::fclose(file);
}

void mark(const Event* event) { write("mark", event, 0); }
int push(const Event* event) {
    write("push", event, 0);
    return depth++;
}
int pop() {
    write("pop", nullptr, static_cast<uint64_t>(depth - 1));
    return --depth;
}
uint64_t start(const Event* event) {
    write("start", event, 0);
    return ++last_range;
}
void end(uint64_t range) { write("end", nullptr, range); }

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    const void* (*export_table)(uint32_t)) {
    if (std::getenv("TRILANE_FAKE_NVTX_REFUSES") != nullptr) return 0;
    const auto* callbacks = static_cast<const Callbacks*>(export_table(1));
    if (callbacks == nullptr || callbacks->size < sizeof(Callbacks)) return 0;
    AnyFunction** table = nullptr;
    unsigned count = 0;
    if (callbacks->module_table(1, &table, &count) == 0 || count < 16) return 0;
    *table[1] = reinterpret_cast<AnyFunction>(mark);
    *table[4] = reinterpret_cast<AnyFunction>(start);
    *table[7] = reinterpret_cast<AnyFunction>(end);
    *table[8] = reinterpret_cast<AnyFunction>(push);
    *table[11] = reinterpret_cast<AnyFunction>(pop);
    return 1;
}
