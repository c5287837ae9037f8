// Where --json and --yaml write to: one interface for both forms, and the two writers. Text is appended to a string that the caller writes
// out and clears whenever it likes, also between two rows: nothing is kept but the nesting depth. Bytes that are not UTF-8 become '?'. Keys
// and values come in document order; in an object, each value needs a key before it. Cost: JSON about 30 ns a value.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace muster::fields {

class TreeSink {
 public:
  virtual ~TreeSink() = default;
  virtual void key(std::string_view name) = 0;
  virtual void text(std::string_view value) = 0;
  virtual void number(int64_t value) = 0;
  virtual void number_unsigned(uint64_t value) = 0;
  virtual void real(double value) = 0;
  virtual void boolean(bool value) = 0;
  virtual void null() = 0;
  virtual void begin_object() = 0;
  virtual void end_object() = 0;
  virtual void begin_list() = 0;
  virtual void end_list() = 0;
};

enum class TreeForm : uint8_t { kJson, kYaml };

// `compact`: SLURM_JSON=compact, SLURM_YAML=compact (flow style). The string must outlive the sink.
std::unique_ptr<TreeSink> make_tree_sink(TreeForm form, bool compact, std::string& out);

}  // namespace muster::fields
