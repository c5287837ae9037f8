#include "fields/show_node.h"

#include "fields/node_composites.h"
#include "fields/node_fields.h"

namespace muster::fields {

void show_node(const NodeRow& node, const Environment& env, const ShowOptions& options, std::string& out) {
  Record record(out, options.oneliner);
  node_record().print(NodeView{node, env}, options.details, record);
  record.end();
}

void show_reason(const NodeView& view, std::string& out) {
  out += view.row.reason;
  if (view.row.reason_time == kTimeUnset) return;
  out += " [";
  put_user(out, view.row.reason_uid, "", view.env);
  out += '@';
  put_time(out, view.row.reason_time, view.env);
  out += ']';
}

}  // namespace muster::fields
