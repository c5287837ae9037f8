#include "fields/kinds.h"

#include "hostlist/hostlist.h"

namespace muster::fields {

// "n2,n1" as "n[1-2]"; a text that is no list as it is.
void Hosts::put_sorted(std::string& out, std::string_view list) {
  if (list.contains(','))
    if (Result<std::vector<std::string>> hosts = expand_hosts(list)) {
      out += compress_hosts_sorted(*hosts);
      return;
    }
  out += list;
}

void Owner::shown(std::string& out, const UserNamed& user, const Environment& env) {
  column(out, user, env);
  out += '(';
  put_number(out, user.uid.value);
  out += ')';
}

void Owner::json(Members& m, std::string_view key, const UserNamed& user, const Environment& env) {
  std::string name;
  column(name, user, env);
  m.text(key, name);
}

void Group::shown(std::string& out, Gid gid, const Environment& env) {
  column(out, gid, env);
  out += '(';
  put_number(out, gid.value);
  out += ')';
}

void Group::json(Members& m, std::string_view key, Gid gid, const Environment& env) {
  std::string name;
  column(name, gid, env);
  m.text(key, name);
}

}  // namespace muster::fields
