#include "config/auth_type.h"

namespace muster::config {

std::string auth_type_if_absent(FileSource& files, const std::string& directory) {
  return files.exists(directory + "/slurm.key") ? "auth/slurm" : "auth/munge";
}

}  // namespace muster::config
