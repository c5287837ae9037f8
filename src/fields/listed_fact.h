// Facts of what the accounting commands list (fact.h): a column as their tables have it (columns.h), written out, and beside it what it is in
// documents. The view of such a table is that of its listing: an account, an event ….
//
//   row({"Account", "Account", 10, …, [](V v, S o) { o += v.account->name; }}, member<Text, account_name>("name", 40))
//
// Those of one listing define row() and member() for their view.
#pragma once

#include "fields/fact.h"

namespace muster::fields {

template <class View>
using ListedFact = Fact<View, ColumnField<View>>;

template <class View>
constexpr ListedFact<View> listed(ColumnField<View> column, auto... members) {
  ListedFact<View> fact;
  fact.column = column;
  (add<SameAsField, SameAsField{}>(fact, members), ...);
  return fact;
}
// What documents have and no column shows.
template <class View>
constexpr ListedFact<View> unlisted(auto... members) {
  return listed<View>({}, members...);
}

// Writes the object of one record.
template <class View>
void json_listed(const DocumentObject<View>& object, const View& view, TreeSink& sink) {
  Members members(sink);
  sink.begin_object();
  object.write(view, members);
  sink.end_object();
}

}  // namespace muster::fields
