// The file system that clang sees: files in memory first, then real ones below the -I directories.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace trilane::cpu {

// Folders of the memory part.
inline constexpr const char* kUserDir = "/trilane/user";        // Program::headers
inline constexpr const char* kIncludeDir = "/trilane/include";  // device_lib/include
inline constexpr const char* kPreludePath = "/trilane/cpu/prelude.h";
inline constexpr const char* kPchPath = "/trilane/prelude.pch";

// Not shared between threads; the texts given to add() and add_source() must outlive it.
class SourceFiles : public llvm::vfs::FileSystem {
  public:
    explicit SourceFiles(std::vector<std::string> include_dirs);

    void add(std::string path, std::string_view text);
    // A text of the user's: attributes are put in order, see attribute_order.h.
    void add_source(std::string path, std::string_view text);
    // Real files that were opened, as absolute paths, in order of first opening.
    const std::vector<std::string>& real_files() const { return real_files_; }

    llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override;
    llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(
        const llvm::Twine& path) override;
    llvm::vfs::directory_iterator dir_begin(const llvm::Twine& dir,
                                            std::error_code& error) override;
    llvm::ErrorOr<std::string> getCurrentWorkingDirectory() const override;
    std::error_code setCurrentWorkingDirectory(const llvm::Twine& path) override;

  private:
    const std::string_view* find(std::string_view path) const;
    bool is_memory_dir(std::string_view path) const;
    bool is_allowed(std::string_view path) const;

    std::map<std::string, std::string_view, std::less<>> files_;
    std::deque<std::string> ordered_;
    std::vector<std::string> include_dirs_;
    std::vector<std::string> real_files_;
    llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> real_;
};

// Text of device_lib/NAME, empty if there is no such file.
std::string_view embedded_text(std::string_view name);

}  // namespace trilane::cpu
