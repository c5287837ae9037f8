#include "model/job.h"

#include <algorithm>

#include "base/equal_fields.h"
#include "base/same.h"

namespace muster {

bool Step::operator==(const Step& o) const { return equal_fields(*this, o); }

void Job::ask(const JobRequest& whole) { asked_for(std::make_shared<const RequestBody>(whole), PackedOwn(whole)); }

void Job::asked_for(RequestBodyPtr body, PackedOwn part) {
  request = std::move(body);
  own = std::move(part);
  name_key = own.name_key();
}

bool Job::is_leaving(NodeId node) const {
  return std::any_of(run->leaving.begin(), run->leaving.end(), [&](const NodeShare& s) { return s.node == node; });
}

// The description has the number of the request; these are what it stands for.
bool Job::operator==(const Job& o) const { return same(request, o.request) && own == o.own && equal_fields(*this, o); }

}  // namespace muster
