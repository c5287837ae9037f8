#include "config/step_profiles.h"

#include "base/text.h"
#include "config/load.h"

namespace muster::config {
namespace {

constexpr std::string_view kHdf5 = "acct_gather_profile/hdf5", kInflux = "acct_gather_profile/influxdb";

bool wants(const LoadedConfig& loaded, std::string_view type) {
  const ConfigValue* value = loaded.config.find_value("AcctGatherProfileType");
  return value && iequals(value->text, type);
}

}  // namespace

StepProfiles step_profiles(const LoadedConfig& loaded) {
  StepProfiles out;
  if (!wants(loaded, kHdf5)) return out;
  out.directory = loaded.acct_gather.text("ProfileHDF5Dir");
  if (!out.directory.starts_with('/')) out.directory.clear();
  while (out.directory.size() > 1 && out.directory.ends_with('/')) out.directory.pop_back();
  out.defaults = ProfileTypes::parse(loaded.acct_gather.text("ProfileHDF5Default")).value_or(ProfileTypes());
  return out;
}

void check_step_profiles(const LoadedConfig& loaded, std::vector<ConfigNotice>& notices) {
  const ConfigValue* type = loaded.config.find_value("AcctGatherProfileType");
  if (wants(loaded, kInflux))
    notices.push_back(error_at(type->pos, "AcctGatherProfileType", std::string(kInflux) + " is not there yet; no profiles are recorded",
                               "there is " + std::string(kHdf5)));
  if (!wants(loaded, kHdf5)) return;
  if (!step_profiles(loaded).on())
    notices.push_back(error_at(type->pos, "AcctGatherProfileType", "no profiles are recorded without ProfileHDF5Dir, an absolute path",
                               "ProfileHDF5Dir=/shared/profiles in acct_gather.conf"));
  const ConfigValue* defaults = loaded.acct_gather.find("ProfileHDF5Default");
  if (auto types = defaults ? ProfileTypes::parse(defaults->text) : Result<ProfileTypes>(); !types)
    notices.push_back(error_at(defaults->pos, "ProfileHDF5Default", std::string(types.error().message()) + "; it is left out"));
}

}  // namespace muster::config
