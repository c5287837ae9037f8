// scrontab -e: the crontab in an editor. The editor runs as a child of this command, with the rights of whoever typed it and nothing else:
// scrontab is not setuid.
#pragma once

#include <string>

#include "base/result.h"

namespace muster::cli {

// A file with a crontab, in a directory that only this user can enter ($TMPDIR, else /tmp). It goes with the object.
class EditedFile {
 public:
  static Result<EditedFile> make(const std::string& text);
  EditedFile(EditedFile&& other) noexcept;
  EditedFile& operator=(EditedFile&&) = delete;
  ~EditedFile();
  // Runs $VISUAL, $EDITOR or vi on the file, and waits. An error if it does not end with exit code 0.
  Result<> edit() const;
  // What the file holds now, at most `most` bytes and one more.
  Result<std::string> text(size_t most) const;

 private:
  explicit EditedFile(std::string folder) : folder_(std::move(folder)), path_(folder_ + "/crontab") {}
  std::string folder_, path_;
};

}  // namespace muster::cli
