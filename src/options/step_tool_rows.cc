// The options of sattach and sbcast. sattach(1), sbcast(1).
#include "options/query_rows.h"
#include "options/values.h"

namespace muster {
namespace {
using namespace options_detail;
using A = SattachOptions;
using B = SbcastOptions;

constexpr OptionRow<A> kSattachRows[] = {
    {{.name = "input-filter",
      .arg = Arg::kRequired,
      .arg_name = "task",
      .commands = kSattach,
      .section = Section::kFilter,
      .summary = "send input to this task only",
      .doc = "Standard input goes to one task instead of all."},
     q_count<A, &A::input_filter>},
    {{.name = "output-filter",
      .arg = Arg::kRequired,
      .arg_name = "task",
      .commands = kSattach,
      .section = Section::kFilter,
      .summary = "show output of this task only",
      .doc = "Standard output of one task instead of all."},
     q_count<A, &A::output_filter>},
    {{.name = "error-filter",
      .arg = Arg::kRequired,
      .arg_name = "task",
      .commands = kSattach,
      .section = Section::kFilter,
      .summary = "show errors of this task only",
      .doc = "Standard error of one task instead of all."},
     q_count<A, &A::error_filter>},
    {{.name = "label",
      .letter = 'l',
      .commands = kSattach,
      .section = Section::kDisplay,
      .summary = "put the task number before each line",
      .doc = "Every line begins with the number of its task."},
     q_flag<A, &A::label>},
    {{.name = "layout",
      .commands = kSattach,
      .section = Section::kDisplay,
      .summary = "print where the tasks are",
      .doc = "Prints the step's tasks and nodes and ends."},
     q_flag<A, &A::layout>},
    {{.name = "pty",
      .commands = kSattach,
      .section = Section::kDisplay,
      .summary = "task 0 on a pseudo terminal",
      .doc = "Connects task 0 to a pseudo terminal. Not with the filters and --label."},
     q_flag<A, &A::pty>},
    quiet_row<A>(kSattach),
    verbose_row<A>(kSattach, "Prints what sattach does."),
    usage_row<A>(kSattach, 'u'),
    MUSTER_HELP_ROWS(A, kSattach, 'h'),
    MUSTER_CONF_ROWS(A, kSattach),
    {{.commands = kSattach, .env = {.other = "SLURM_EXIT_ERROR"}, .doc = "The exit code when sattach itself fails."},
     [](A& o, const Given& g) -> Result<> {
       // A value that is no exit code must not hide the error that the code was meant for.
       if (auto v = parse_number<uint32_t>(g.value, 0, 255)) o.exit_error = *v;
       return {};
     }},
};

// "off" means no tree: sbcast itself sends to every node.
Result<> set_fanout(B& o, const Given& g) {
  auto v = iequals(g.value, "off") ? std::optional<uint32_t>(0) : parse_number<uint32_t>(g.value, 1, 64);
  if (!v)
    return fail(Errc::kInvalidReq, "Invalid numeric value \"" + std::string(g.value) + "\" for " + g.info->name + ".", "1 to 64, or off");
  o.fanout = *v;
  return {};
}

Result<> set_size(B& o, const Given& g) {
  auto v = parse_count(g.value);
  if (!v || *v == 0) return fail(Errc::kInvalidReq, "Invalid --size specification", "bytes, with k, m or g if wanted");
  o.size_bytes = *v;
  return {};
}

Result<> set_send_libs(B& o, const Given& g) {
  auto v = g.value.empty() ? std::optional<bool>(true) : parse_yes_no(g.value);
  if (!v) return fail(Errc::kInvalidReq, "Invalid --send-libs specification", "expected yes or no");
  o.send_libs = *v;
  return {};
}

Result<> set_compress(B& o, const Given& g) {
  if (!g.value.empty() && !iequals(g.value, "lz4") && !iequals(g.value, "none"))
    return fail(Errc::kInvalidReq, "Invalid --compress specification", "known: lz4, none");
  o.compress = g.value.empty() ? "lz4" : to_lower(g.value);
  return {};
}

constexpr OptionRow<B> kSbcastRows[] = {
    {{.name = "jobid",
      .letter = 'j',
      .arg = Arg::kRequired,
      .arg_name = "job[.step]",
      .commands = kSbcast,
      .section = Section::kTransfer,
      .summary = "copy to this job's nodes",
      .doc = "The job, or step, whose nodes get the file. The default is the job sbcast runs in."},
     q_text<B, &B::job>},
    {{.name = "nodelist",
      .letter = 'w',
      .arg = Arg::kRequired,
      .arg_name = "hosts",
      .commands = kSbcast,
      .section = Section::kTransfer,
      .summary = "only these nodes of it",
      .doc = "A host list such as n[1-4]."},
     q_text<B, &B::nodes>},
    {{.name = "force",
      .letter = 'f',
      .commands = kSbcast,
      .env = {.other = "SBCAST_FORCE"},
      .section = Section::kTransfer,
      .summary = "replace an existing file",
      .doc = "An existing file is replaced."},
     q_flag<B, &B::force>},
    {{.name = "preserve",
      .letter = 'p',
      .commands = kSbcast,
      .env = {.other = "SBCAST_PRESERVE"},
      .section = Section::kTransfer,
      .summary = "keep times and modes",
      .doc = "The copies get the times and the mode of the file. Their owner is the job's."},
     q_flag<B, &B::preserve>},
    {{.name = "size",
      .letter = 's',
      .arg = Arg::kRequired,
      .arg_name = "size",
      .commands = kSbcast,
      .env = {.other = "SBCAST_SIZE"},
      .section = Section::kTransfer,
      .summary = "block size",
      .doc = "How much is sent at a time, in bytes or with k or m."},
     set_size},
    {{.name = "timeout",
      .letter = 't',
      .arg = Arg::kRequired,
      .arg_name = "seconds",
      .commands = kSbcast,
      .env = {.other = "SBCAST_TIMEOUT"},
      .section = Section::kTransfer,
      .summary = "message timeout",
      .doc = "How long the nodes may take for one block; 60 by default."},
     q_count<B, &B::timeout_seconds>},
    {{.name = "treewidth",
      .letter = 'F',
      .arg = Arg::kRequired,
      .arg_name = "number",
      .commands = kSbcast,
      .env = {.other = "SBCAST_FANOUT"},
      .section = Section::kTransfer,
      .summary = "fanout of the copy",
      .doc = "To how many nodes each node passes the file on: 1 to 64, TreeWidth by default; off: sbcast sends to each itself."},
     set_fanout},
    {{.name = "fanout",
      .arg = Arg::kRequired,
      .arg_name = "number",
      .commands = kSbcast,
      .section = Section::kTransfer,
      .summary = "fanout of the copy",
      .doc = "The same as --treewidth.",
      .hidden = true},
     set_fanout},
    {{.name = "compress",
      .letter = 'C',
      .arg = Arg::kOptional,
      .arg_name = "library",
      .commands = kSbcast,
      .env = {.other = "SBCAST_COMPRESS"},
      .section = Section::kTransfer,
      .summary = "compress on the way",
      .doc = "lz4 (what the option alone means) or none. Without the option BcastParameters decides."},
     set_compress},
    {{.name = "send-libs",
      .arg = Arg::kOptional,
      .arg_name = "yes|no",
      .commands = kSbcast,
      .env = {.other = "SBCAST_SEND_LIBS"},
      .section = Section::kTransfer,
      .summary = "send the libraries along",
      .doc = "Copies the shared libraries a program needs too."},
     set_send_libs},
    {{.name = "exclude",
      .arg = Arg::kRequired,
      .arg_name = "NONE|path,...",
      .commands = kSbcast,
      .env = {.other = "SBCAST_EXCLUDE"},
      .section = Section::kTransfer,
      .summary = "libraries not to copy",
      .doc = "Directories whose libraries --send-libs leaves out."},
     q_text<B, &B::exclude>},
    {{.name = "no-allocation",
      .letter = 'Z',
      .commands = kSbcast,
      .section = Section::kTransfer,
      .summary = "copy without a job (root)",
      .doc = "Copies to the nodes of --nodelist without a job. For root."},
     q_flag<B, &B::no_allocation>},
    verbose_row<B>(kSbcast, "Prints what sbcast does."),
    usage_row<B>(kSbcast),
    MUSTER_HELP_ROWS(B, kSbcast, 0),
    MUSTER_CONF_ROWS(B, kSbcast),
};
}  // namespace

std::span<const OptionRow<SattachOptions>> sattach_rows() { return kSattachRows; }
std::span<const OptionRow<SbcastOptions>> sbcast_rows() { return kSbcastRows; }

}  // namespace muster
