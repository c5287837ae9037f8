// Converts the nouns of a Directory to rows of the database, and back.
#pragma once

#include "slurmdbd/core/directory.h"
#include "sql/storage.h"

namespace muster::slurmdbd {

// Loads what the database has; an empty one gets the nouns that exist from the start.
Result<Directory> load_directory(sql::Storage& storage, Time now);
// The touched records of `after`: those that exist in it are written, the others are deleted.
sql::EntityChanges changes_of(const Directory& after, const Touched& touched);

}  // namespace muster::slurmdbd
