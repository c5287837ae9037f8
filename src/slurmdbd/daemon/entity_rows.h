// The nouns of a Directory as rows of the database, and back.
#pragma once

#include "slurmdbd/core/directory.h"
#include "sql/storage.h"

namespace muster::slurmdbd {

// What the database has; an empty one gets what exists from the start.
Result<Directory> load_directory(sql::Storage& storage, Time now);
// The touched records of `after`: those that are there are put, the others are gone.
sql::EntityChanges changes_of(const Directory& after, const Touched& touched);

}  // namespace muster::slurmdbd
