#include "config/record.h"

#include <algorithm>

#include "base/text.h"

namespace muster::config {

void Findings::not_yet(const SourcePos& pos, const KeyRow& row) {
  for (const ConfigNotice& n : notices)
    if (n.key == row.name) return;  // one line of the log for a key, however often it stands
  notice(pos, row.name, std::string("accepted without effect, this is not there yet: ") + row.needs);
}

std::string apply_assign(std::string_view before, const KeyValue& kv) {
  if (kv.op == Assign::kSet) return kv.value;
  std::vector<std::string> words;
  for (std::string_view w : split(before, ',')) words.emplace_back(w);
  for (std::string_view w : split(kv.value, ',')) {
    std::erase_if(words, [&](const std::string& have) { return iequals(have, w); });
    if (kv.op == Assign::kAppend) words.emplace_back(w);
  }
  return join(words, ",");
}

namespace {

// A feature that is switched off, or left as it is by default, is missed by nobody.
bool asks_for_nothing(const KeyRow& row, std::string_view value) {
  if (value.empty() || iequals(value, "none") || value.ends_with("/none")) return true;
  return row.default_text ? iequals(value, row.default_text) : value == "0";
}

void unknown_key(ConfFile file, Section section, const KeyValue& kv, Findings& findings) {
  std::vector<std::string_view> names;
  for (const KeyRow* row : rows_of(file)) {
    bool starts_a_record = section == Section::kGlobal && section_name(row->section) == row->name;  // NodeNam=
    if (row->section == section || starts_a_record) names.push_back(row->name);
  }
  std::string where = section == Section::kGlobal ? std::string(file_name(file))
                                                  : std::string(section_name(section)) + " lines";
  std::string hint;
  if (std::string_view near = did_you_mean(kv.key, names); !near.empty())
    hint = "did you mean " + std::string(near) + "?";
  if (hint.empty())
    for (const KeyRow* row : rows_of(file))  // right word on the wrong kind of line
      if (row->section != section && iequals(row->name, kv.key)) {
        hint = row->section == Section::kGlobal
                   ? "it is a key of a line of its own"
                   : "it is a key of " + std::string(section_name(row->section)) + " lines";
        break;
      }
  findings.error(kv.pos, kv.key, "is not a key of " + where, hint);
}

bool takes_lists(KeyType type) {
  return type == KeyType::kList || type == KeyType::kFlags || type == KeyType::kHosts ||
         type == KeyType::kGres;
}

}  // namespace

const KeyRow* check_pair(ConfFile file, Section section, const KeyValue& kv, Findings& findings) {
  const KeyRow* row = find_row(file, section, kv.key);
  if (!row) {
    if (const RetiredKey* retired = find_retired(file, section, kv.key)) {
      if (retired->accepted)
        findings.notice(kv.pos, kv.key, "belongs to older releases and has no effect", retired->advice);
      else
        findings.error(kv.pos, kv.key, "belongs to older releases", retired->advice);
      return nullptr;
    }
    unknown_key(file, section, kv, findings);
    return nullptr;
  }
  if (row->state == KeyStatus::kRefused) {
    findings.error(kv.pos, kv.key, row->needs);
    return nullptr;
  }
  if (kv.op != Assign::kSet && !takes_lists(row->type)) {
    findings.error(kv.pos, kv.key, "takes one value, not a list: += and -= do not apply",
                   "write " + std::string(row->name) + "=");
    return nullptr;
  }
  if (std::optional<ValueProblem> problem = check_value(*row, kv.value)) {
    findings.error(kv.pos, row->name, problem->message, problem->hint);
    return nullptr;
  }
  if (row->state == KeyStatus::kNotYet && !asks_for_nothing(*row, kv.value)) findings.not_yet(kv.pos, *row);
  return row;
}

void Record::add(const Line& line, Findings& findings) {
  where_ = line.pos;
  for (const KeyValue& kv : line.values) {
    const KeyRow* row = check_pair(file_, section_, kv, findings);
    if (!row) continue;
    auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.row == row; });
    if (it == entries_.end()) {
      entries_.push_back({row, kv.op == Assign::kRemove ? std::string() : kv.value, kv.pos});
    } else {
      it->value = apply_assign(it->value, kv);
      it->pos = kv.pos;
    }
  }
}

const Record::Entry* Record::find(std::string_view key) const {
  for (const Entry& e : entries_)
    if (e.row->name == key) return &e;
  return nullptr;
}

std::string_view Record::text(std::string_view key) const {
  if (const Entry* e = find(key); e) return e->value;
  const KeyRow* row = find_row(file_, section_, key);
  return row && row->default_text ? std::string_view(row->default_text) : std::string_view();
}

std::optional<int64_t> Record::number(std::string_view key) const {
  std::string_view t = text(key);
  if (t.empty()) {
    const KeyRow* row = find_row(file_, section_, key);
    if (!row || !row->default_text) return std::nullopt;
    t = row->default_text;
  }
  return parse_integer(t);
}

bool Record::yes(std::string_view key) const { return parse_yes_no(text(key)).value_or(false); }

std::optional<uint64_t> Record::mem_mb(std::string_view key) const {
  std::string_view t = text(key);
  if (t.empty() || iequals(t, "UNLIMITED")) return std::nullopt;
  Result<uint64_t> v = parse_mem_mb(t);
  if (!v || *v == 0) return std::nullopt;
  return *v;
}

const SourcePos& Record::pos(std::string_view key) const {
  const Entry* e = find(key);
  return e ? e->pos : where_;
}

}  // namespace muster::config
