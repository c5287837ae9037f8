#include "config/record.h"

#include <algorithm>

#include "base/text.h"

namespace muster::config {

void Findings::without_effect(const SourcePos& pos, const KeyRow& row) {
  for (const ConfigNotice& n : notices)
    if (n.key == row.name) return;  // a key gets one line in the log, however often the file has it
  notice(pos, row.name,
         std::string(row.state == KeyStatus::kNotYet ? "accepted without effect, this is not there yet: " : "has no effect: ") + row.needs);
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

// Nobody misses a feature that the value switches off or leaves at its default, so no notice is needed.
bool asks_for_nothing(const KeyRow& row, std::string_view value) {
  if (value.empty() || iequals(value, "none") || value.ends_with("/none")) return true;
  return row.default_text ? iequals(value, row.default_text) : value == "0";
}

void unknown_key(ConfFile file, Section section, const KeyValue& kv, Findings& findings) {
  std::vector<std::string_view> names;
  for (const KeyRow* row : rows_of(file)) {
    bool starts_a_record = section == Section::kGlobal && section_name(row->section) == row->name;  // NodeNam= may be a misspelt NodeName=
    if (row->section == section || starts_a_record) names.push_back(row->name);
  }
  std::string where = section == Section::kGlobal ? std::string(file_name(file)) : std::string(section_name(section)) + " lines";
  std::string hint;
  if (std::string_view near = did_you_mean(kv.key, names); !near.empty()) hint = "did you mean " + std::string(near) + "?";
  if (hint.empty())
    for (const KeyRow* row : rows_of(file))  // the right word on the wrong kind of line
      if (row->section != section && iequals(row->name, kv.key)) {
        hint = row->section == Section::kGlobal ? "it is a key of a line of its own"
                                                : "it is a key of " + std::string(section_name(row->section)) + " lines";
        break;
      }
  findings.error(kv.pos, kv.key, "is not a key of " + where, hint);
}

bool takes_lists(KeyType type) {
  return type == KeyType::kList || type == KeyType::kFlags || type == KeyType::kHosts || type == KeyType::kGres;
}

// What a notice says is taken in place of a value that is left out.
std::string instead(const KeyRow& row) {
  return row.default_text ? std::string(row.default_text) + " is taken" : std::string("it is left out");
}

std::string quoted(std::string_view word) { return "\"" + std::string(word.substr(0, 60)) + "\""; }

// The value without the words that nobody knows, for an enumeration or a list of flags.
std::optional<std::string> known_words(const KeyRow& row, const KeyValue& kv, Findings& findings) {
  const bool one = row.type == KeyType::kEnum;
  const std::vector<std::string_view> words = one ? std::vector<std::string_view>{kv.value} : split(kv.value, ',');
  std::vector<std::string> kept;
  for (std::string_view word : words) {
    word = trim(word);
    std::optional<ValueProblem> problem = check_value(row, word);
    if (!problem) {
      kept.emplace_back(word);
    } else if (const RetiredWord* old = find_retired_word(row, word); old && !findings.strict) {
      findings.notice(
          kv.pos, row.name,
          quoted(word) + " belongs to older releases" + (*old->now ? "; " + std::string(old->now) + " is taken" : " and has no effect"),
          old->advice);
      if (*old->now) kept.emplace_back(old->now);
    } else if (row.misleads || findings.strict) {
      findings.error(kv.pos, row.name, problem->message, problem->hint);
      return std::nullopt;
    } else {
      findings.notice(kv.pos, row.name, problem->message + "; " + (one ? instead(row) : std::string("it is left out")), problem->hint);
    }
  }
  if (kept.empty() && !kv.value.empty()) return std::nullopt;
  return join(kept, ",");
}

bool is_number(KeyType type) {
  return type == KeyType::kInt || type == KeyType::kSeconds || type == KeyType::kMinutes || type == KeyType::kMicroseconds ||
         type == KeyType::kMilliseconds;
}

// The value to use; nullopt when there is none, which has then been reported.
std::optional<std::string> usable_value(const KeyRow& row, const KeyValue& kv, Findings& findings) {
  if (row.type == KeyType::kEnum || row.type == KeyType::kFlags) return known_words(row, kv, findings);
  std::optional<ValueProblem> problem = check_value(row, kv.value);
  if (!problem || row.type == KeyType::kGres) return kv.value;  // Gres= is looked at item by item (slurm_nodes.cc)
  if (!row.misleads && !findings.strict) {
    std::optional<int64_t> number = is_number(row.type) ? parse_integer(kv.value) : std::nullopt;
    if (number && *number >= 0) {
      const std::string nearest = std::to_string(std::clamp(*number, row.min_value, row.max_value));
      findings.notice(kv.pos, row.name, problem->message + ", not " + kv.value + "; " + nearest + " is taken");
      return nearest;
    }
    if (row.type == KeyType::kPortRange || row.type == KeyType::kPurgeAge) {
      findings.notice(kv.pos, row.name, problem->message + "; it is left out", problem->hint);
      return std::nullopt;
    }
  }
  findings.error(kv.pos, row.name, problem->message, problem->hint);
  return std::nullopt;
}

}  // namespace

std::optional<CheckedPair> check_pair(ConfFile file, Section section, const KeyValue& kv, Findings& findings) {
  const KeyRow* row = find_row(file, section, kv.key);
  if (!row) {
    if (const RetiredKey* retired = find_retired(file, section, kv.key))
      findings.notice(kv.pos, kv.key, "belongs to older releases and has no effect", retired->advice);
    else unknown_key(file, section, kv, findings);
    return std::nullopt;
  }
  if (row->state == KeyStatus::kRefused) {
    findings.error(kv.pos, kv.key, row->needs);
    return std::nullopt;
  }
  CheckedPair out{row, kv};
  if (kv.op != Assign::kSet && !takes_lists(row->type)) {
    findings.odd(kv.pos, kv.key, "takes one value, not a list: += and -= do not apply", "the value is set",
                 "write " + std::string(row->name) + "=");
    out.kv.op = Assign::kSet;
  }
  std::optional<std::string> value = usable_value(*row, kv, findings);
  if (!value) return std::nullopt;
  out.kv.value = std::move(*value);
  const bool idle = row->state == KeyStatus::kNotYet || row->state == KeyStatus::kNoEffect;
  if (idle && !asks_for_nothing(*row, out.kv.value)) findings.without_effect(kv.pos, *row);
  return out;
}

void Record::add(const Line& line, Findings& findings) {
  where_ = line.pos;
  for (const KeyValue& kv : line.values) {
    std::optional<CheckedPair> pair = check_pair(file_, section_, kv, findings);
    if (!pair) continue;
    auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.row == pair->row; });
    if (it == entries_.end()) {
      entries_.push_back({pair->row, pair->kv.op == Assign::kRemove ? std::string() : pair->kv.value, kv.pos});
    } else {
      it->value = apply_assign(it->value, pair->kv);
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
