// ConfigFiles: the files of the configuration as hosts without slurm.conf get them (SlurmctldParameters=enable_configless). Only files that
// lie beside slurm.conf and that the configuration names: slurm.conf, the files of the guide's list, what these include, and the prolog and
// epilog scripts; each named without a '/'. Never a key. Read once at the start and at each reconfigure, then unchanged, whatever becomes of
// the files. Guide configless_slurm.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/slurm_conf.h"
#include "model/messages.h"

namespace muster::slurmctld {

class ConfigFiles {
 public:
  // `read`: what reading the configuration has opened, by path. What cannot be read is left out and named in `notes`, lines for the log.
  // Errors: there is more than model/config_rpc.h allows.
  static Result<std::shared_ptr<const ConfigFiles>> collect(const config::Config& config, const std::map<std::string, std::string>& read,
                                                            std::vector<std::string>& notes);

  const rpc::ConfigManifest& manifest() const { return manifest_; }
  // Errors: kTryAgainLater (of another version), kInvalidArgument (no such file, an offset behind its end).
  Result<rpc::ContentPiece> piece(const rpc::FetchConfigFile& asked) const;

 private:
  rpc::ConfigManifest manifest_;
  std::map<std::string, std::string> contents_;
};

}  // namespace muster::slurmctld
