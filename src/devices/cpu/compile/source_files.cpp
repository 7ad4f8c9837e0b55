// Memory files are found by their cleaned path; everything else must lie below an -I directory.
#include "devices/cpu/compile/source_files.h"

#include <algorithm>
#include <filesystem>

#include "devices/cpu/compile/attribute_order.h"
#include "devices/cpu/compile/embedded_files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace trilane::cpu {
namespace {

namespace vfs = llvm::vfs;

constexpr const char* kWorkingDir = "/trilane/main";

std::string clean(const llvm::Twine& path) {
    llvm::SmallString<256> text;
    path.toVector(text);
    if (!text.starts_with("/")) {
        llvm::SmallString<256> absolute(kWorkingDir);
        absolute += "/";
        absolute += text;
        text = absolute;
    }
    llvm::sys::path::remove_dots(text, true, llvm::sys::path::Style::posix);
    return std::string(text);
}

// device_lib's files by the path that clang sees: "include/x" and "cpu/x" below /trilane.
const std::map<std::string, std::string_view, std::less<>>& embedded_map() {
    static const auto* kMap = [] {
        auto* map = new std::map<std::string, std::string_view, std::less<>>();
        for (const EmbeddedFile& file : embedded_files())
            map->emplace("/trilane/" + std::string(file.name), file.text);
        return map;
    }();
    return *kMap;
}

vfs::Status memory_status(llvm::StringRef path, size_t size, llvm::sys::fs::file_type type) {
    return vfs::Status(path, llvm::sys::fs::UniqueID(~0ull, llvm::hash_value(path)),
                       llvm::sys::toTimePoint(0), 0, 0, size, type, llvm::sys::fs::perms::all_read);
}

class MemoryFile : public vfs::File {
  public:
    MemoryFile(vfs::Status status, std::string_view text)
        : status_(std::move(status)), text_(text) {}
    llvm::ErrorOr<vfs::Status> status() override { return status_; }
    llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> getBuffer(const llvm::Twine& name, int64_t,
                                                                 bool, bool) override {
        // Clang wants a zero byte behind the text, which string_views do not promise.
        return llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(text_.data(), text_.size()),
                                                    name);
    }
    std::error_code close() override { return {}; }

  private:
    vfs::Status status_;
    std::string_view text_;
};

bool below(std::string_view path, std::string_view dir) {
    return path.starts_with(dir) &&
           (dir.ends_with('/') || path.size() == dir.size() || path[dir.size()] == '/');
}

std::error_code not_found() { return make_error_code(std::errc::no_such_file_or_directory); }

}  // namespace

std::string_view embedded_text(std::string_view name) {
    auto found = embedded_map().find("/trilane/" + std::string(name));
    return found == embedded_map().end() ? std::string_view() : found->second;
}

SourceFiles::SourceFiles(std::vector<std::string> include_dirs)
    : include_dirs_(std::move(include_dirs)), real_(vfs::getRealFileSystem()) {}

void SourceFiles::add(std::string path, std::string_view text) { files_[clean(path)] = text; }

void SourceFiles::add_source(std::string path, std::string_view text) {
    if (auto ordered = order_attributes(text)) text = ordered_.emplace_back(std::move(*ordered));
    add(std::move(path), text);
}

const std::string_view* SourceFiles::find(std::string_view path) const {
    if (auto found = files_.find(path); found != files_.end()) return &found->second;
    if (auto found = embedded_map().find(path); found != embedded_map().end())
        return &found->second;
    return nullptr;
}

// The working directory is there even if nothing is in it: clang takes that for granted where it
// looks for the files of -include.
bool SourceFiles::is_memory_dir(std::string_view path) const {
    if (path == kWorkingDir) return true;
    auto holds = [&](const auto& map) {
        auto next = map.lower_bound(path);
        while (next != map.end() && std::string_view(next->first).starts_with(path)) {
            if (below(next->first, path)) return true;
            ++next;
        }
        return false;
    };
    return holds(files_) || holds(embedded_map());
}

bool SourceFiles::is_allowed(std::string_view path) const {
    return std::any_of(include_dirs_.begin(), include_dirs_.end(),
                       [&](const std::string& dir) { return below(path, dir); });
}

llvm::ErrorOr<vfs::Status> SourceFiles::status(const llvm::Twine& path) {
    std::string cleaned = clean(path);
    if (const std::string_view* text = find(cleaned))
        return memory_status(cleaned, text->size(), llvm::sys::fs::file_type::regular_file);
    if (is_memory_dir(cleaned))
        return memory_status(cleaned, 0, llvm::sys::fs::file_type::directory_file);
    // The path as written counts: a header below -I may say #include "../common.h".
    if (!is_allowed(path.str())) return not_found();
    return real_->status(path);
}

llvm::ErrorOr<std::unique_ptr<vfs::File>> SourceFiles::openFileForRead(const llvm::Twine& path) {
    std::string cleaned = clean(path);
    if (const std::string_view* text = find(cleaned))
        return std::unique_ptr<vfs::File>(std::make_unique<MemoryFile>(
            memory_status(cleaned, text->size(), llvm::sys::fs::file_type::regular_file), *text));
    if (!is_allowed(path.str())) return not_found();
    auto file = real_->openFileForRead(path);
    if (!file) return file;
    std::error_code error;
    std::string absolute = std::filesystem::absolute(path.str(), error).string();
    if (std::find(real_files_.begin(), real_files_.end(), absolute) == real_files_.end())
        real_files_.push_back(std::move(absolute));
    auto buffer = (*file)->getBuffer(path);
    if (!buffer) return buffer.getError();
    auto ordered = order_attributes(std::string_view((*buffer)->getBuffer()));
    if (!ordered) return real_->openFileForRead(path);
    auto status = (*file)->status();
    if (!status) return status.getError();
    return std::unique_ptr<vfs::File>(
        std::make_unique<MemoryFile>(*status, ordered_.emplace_back(std::move(*ordered))));
}

vfs::directory_iterator SourceFiles::dir_begin(const llvm::Twine&, std::error_code& error) {
    error = not_found();
    return {};
}

llvm::ErrorOr<std::string> SourceFiles::getCurrentWorkingDirectory() const {
    return std::string(kWorkingDir);
}

std::error_code SourceFiles::setCurrentWorkingDirectory(const llvm::Twine&) { return {}; }

}  // namespace trilane::cpu
