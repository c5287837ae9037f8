// What of a wanted change makes a difference to a record, with a line for each that tells of it in the words of Slurm's sacctmgr load.
// Internal to load_plan.cc. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/accounts.h"

namespace muster::cli {

// Whose change it is: what lines say, "for Account lab".
struct Changed {
  std::string_view kind;
  std::string name;
  std::vector<std::string>& lines;
  void say(std::string_view what, std::string_view before, std::string_view after) const;
};

// Each returns the part of `wanted` that the record is not already; empty where it is all of it. Of a new record it is the whole, less
// Fairshare=1, which is how records begin.
EntityChange difference(const EntityChange& wanted, const AssociationRecord& now, const Changed& changed);
EntityChange difference(const EntityChange& wanted, const QosRecord& now, const Changed& changed);
EntityChange difference(const EntityChange& wanted, const AccountRecord& now, const Changed& changed);
EntityChange of_new_association(EntityChange wanted);

bool is_empty(const EntityChange& change);
// The same text for changes that are the same; of the members that lines of users have.
std::string key_of(const EntityChange& change);

}  // namespace muster::cli
