#include "model/job.h"

#include <algorithm>

#include "base/equal_fields.h"
#include "base/same.h"

namespace muster {

bool Step::operator==(const Step& o) const { return equal_fields(*this, o); }

void Job::ask(const JobRequest& whole) {
  request = std::make_shared<const RequestBody>(whole);
  own = PackedOwn(whole);
}

bool Job::is_leaving(NodeId node) const {
  return std::any_of(run->leaving.begin(), run->leaving.end(), [&](const NodeShare& s) { return s.node == node; });
}

// The description has the number of the request; these are what it stands for.
bool Job::operator==(const Job& o) const { return same(request, o.request) && own == o.own && equal_fields(*this, o); }

}  // namespace muster
