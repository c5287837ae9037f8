// Events, reservations and problems that sacctmgr lists, as objects of its documents. The description has no shape of them: members have the
// names of their columns, and times, amounts and users the shapes that they have elsewhere. sacctmgr(1) --json, --yaml. Accounts, users, QOS …:
// entity_objects.h.
#pragma once

#include "fields/event_view.h"
#include "fields/fact.h"
#include "fields/held_view.h"
#include "fields/problem_view.h"

namespace muster::fields {

DocumentObject<EventView> event_object();
DocumentObject<HeldView> held_object();
DocumentObject<ProblemView> problem_object();

}  // namespace muster::fields
