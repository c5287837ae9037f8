#include "cli/sacct/content.h"

#include <algorithm>

#include "base/plain_text.h"
#include "fields/record_values.h"

namespace muster::cli {

void ContentPrinter::add(rpc::ContentPart part) {
  if (part.first()) begin(part);
  if (kind_ == ContentKind::kEnvironment) std::ranges::replace(part.bytes, '\0', '\n');
  put(part.bytes);
}

void ContentPrinter::begin(const rpc::ContentPart& first) {
  end();
  std::string id;
  fields::put_record_id({first.job, nullptr, environment_, {}, {}}, id);
  if (first.refused) {
    refused_ += (refused_.empty() ? "" : ",") + id;
    return;
  }
  begun_ = true;
  out_.put(kind_ == ContentKind::kScript ? "Batch Script for " + id + "\n"
                                         : "Environment used for " + id + " (must be batch to display)\n");
  out_.line(std::string(80, '-'));
  if (first.too_long)
    put("TOO LONG: it has " + std::to_string(first.size) + " bytes, and the database keeps " + std::to_string(kMostKeptContent) +
        " of one");
  else if (first.size == 0) put("NONE\n");
}

void ContentPrinter::put(std::string_view bytes) {
  if (!terminal_) return out_.put(bytes);
  for (size_t end; (end = bytes.find('\n')) != std::string_view::npos; bytes.remove_prefix(end + 1)) {
    put_line(line_ += bytes.substr(0, end));
    out_.put("\n");
    line_.clear();
  }
  line_ += bytes;
}

void ContentPrinter::put_line(std::string_view line) {
  for (size_t tab; (tab = line.find('\t')) != std::string_view::npos; line.remove_prefix(tab + 1)) {
    append_plain(out_.buffer(), line.substr(0, tab));
    out_.put("\t");
  }
  append_plain(out_.buffer(), line);
  out_.put("");
}

void ContentPrinter::end() {
  put_line(std::exchange(line_, {}));
  if (std::exchange(begun_, false)) out_.put("\n");
}

}  // namespace muster::cli
