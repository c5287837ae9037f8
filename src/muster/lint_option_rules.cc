// Rules about what the directives ask for: units, counts that contradict each other, files that nobody will find.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "model/tres_list.h"
#include "muster/lint_rules.h"

namespace muster::front {
namespace {

template <class... T>
bool one_of(uint32_t value, T... choices) {
  return ((value == static_cast<uint32_t>(choices)) || ...);
}

// --time=48 is 48 minutes and --time=24:00 is 24 minutes; people who think of hours write both.
void time_in_minutes(const Look& look, Findings& out) {
  for (std::string_view name : {"time", "time-min"}) {
    const DirectiveOption* o = look.option(name);
    if (!o) continue;
    auto plain = parse_number<uint32_t>(o->value);
    auto parts = split(o->value, ':');
    auto first = parts.size() == 2 && parts[1] == "00" ? parse_number<uint32_t>(parts[0]) : std::nullopt;
    const std::string hours = plain ? o->value : first ? std::string(parts[0]) : std::string();
    const bool odd = (plain && one_of(*plain, 24, 36, 48, 72, 96, 168)) || (first && one_of(*first, 1, 2, 24, 36, 48, 72, 96, 168));
    if (odd)
      warn(look, o->line, "--" + o->name, o->value + " is " + hours + (hours == "1" ? " minute" : " minutes"),
           hours + (hours == "1" ? " hour" : " hours") + " would be " + hours + ":00:00", out);
  }
}

// --mem=64 is 64 MB, where 64 GB may be meant.
void memory_without_unit(const Look& look, Findings& out) {
  for (std::string_view name : {"mem", "mem-per-cpu", "mem-per-gpu"}) {
    const DirectiveOption* o = look.option(name);
    auto n = o ? parse_number<uint32_t>(o->value) : std::nullopt;
    if (n && *n > 0 && *n < 1024)
      warn(look, o->line, "--" + o->name, o->value + " is " + o->value + " megabytes", o->value + " gigabytes would be " + o->value + "G",
           out);
  }
}

// Finds mistakes such as "gpus:4": GRES have the names of the site's GresTypes, and a GPU is called gpu.
void gres_names(const Look& look, Findings& out) {
  const DirectiveOption* o = look.option("gres");
  if (!o) return;
  for (std::string_view part : split(o->value, ',')) {
    std::string_view name = part.substr(0, part.find_first_of(":="));
    for (std::string_view odd : {"gpus", "GPU", "GPUs", "GPUS", "Gpu", "cuda", "nvidia"})
      if (name == odd)
        warn(look, o->line, "--gres", "\"" + std::string(name) + "\" is hardly the name of a resource",
             "GPUs are called gpu: --gres=gpu" + std::string(part.substr(name.size())), out);
  }
}

uint32_t task_count(const AskedRequest& r) {
  if (r.num_tasks) return r.num_tasks;
  return r.ntasks_per_node && r.min_nodes ? r.ntasks_per_node * r.min_nodes : 0;
}

// --gpus-per-task needs to know how many tasks there are; the counts have to agree.
void gpu_counts(const Look& look, Findings& out) {
  const AskedRequest& request = look.check.options.request;
  const uint64_t per_task = request.tres_per_task->gres("gpu"), per_job = request.tres_per_job->gres("gpu"),
                 per_node = request.tres_per_node->gres("gpu");
  const uint32_t tasks = task_count(request);
  if (const DirectiveOption* o = look.option("gpus-per-task"); o && !tasks && !per_job)
    warn(look, o->line, "--gpus-per-task", "says GPUs for each task, and nothing says how many tasks there are",
         "add --ntasks=N (or --gpus=N)", out);
  if (const DirectiveOption* o = look.option("gpus"); o && per_task && tasks && per_task * tasks != per_job)
    warn(look, o->line, "--gpus",
         o->value + " does not agree with " + std::to_string(tasks) + " tasks with " + std::to_string(per_task) + " GPUs each",
         "leave --gpus out, or write --gpus=" + std::to_string(per_task * tasks), out);
  const bool fixed_nodes = request.min_nodes && (request.max_nodes == request.min_nodes || !request.max_nodes);
  if (const DirectiveOption* o = look.option("gpus"); o && per_node && fixed_nodes && per_node * request.min_nodes != per_job)
    warn(look, o->line, "--gpus",
         o->value + " does not agree with " + std::to_string(request.min_nodes) + " nodes with " + std::to_string(per_node) + " GPUs each",
         "--gpus counts those of the whole job: --gpus=" + std::to_string(per_node * request.min_nodes), out);
}

void task_counts(const Look& look, Findings& out) {
  const AskedRequest& request = look.check.options.request;
  const DirectiveOption* option = look.option("ntasks");
  const bool fixed_nodes = request.min_nodes && (request.max_nodes == request.min_nodes || !request.max_nodes);
  if (!option || !request.num_tasks || !request.ntasks_per_node || !fixed_nodes) return;
  const uint32_t product = request.ntasks_per_node * request.min_nodes;
  if (product == request.num_tasks) return;
  const std::string both = std::to_string(request.min_nodes) + " nodes with " + std::to_string(request.ntasks_per_node) + " tasks each";
  if (request.num_tasks > product)
    warn(look, option->line, "--ntasks", option->value + " tasks do not fit " + both,
         "leave --ntasks out, or write --ntasks=" + std::to_string(product), out);
  else
    warn(look, option->line, "--ntasks", option->value + " wins over " + both + ": --ntasks-per-node becomes a maximum",
         "leave one of the two out", out);
}

// Of an option given twice, the last one counts, and the first is silently ignored.
void given_twice(const Look& look, Findings& out) {
  std::map<std::string, const DirectiveOption*> seen;
  for (const DirectiveOption& o : look.check.given) {
    auto [at, fresh] = seen.try_emplace(o.name, &o);
    if (fresh || o.name == "verbose") continue;
    if (at->second->value != o.value)
      warn(look, o.line, "--" + o.name,
           "is given twice: " + o.value + " counts, not " + at->second->value + " of line " + std::to_string(at->second->line), "", out);
    at->second = &o;
  }
}

std::string parent_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? std::string() : std::string(path.substr(0, std::max<size_t>(slash, 1)));
}

// Muster makes missing directories of output files; elsewhere the job fails without a line of output.
void output_directories(const Look& look, Findings& out) {
  std::string base = look.world->work_dir;
  if (const DirectiveOption* o = look.option("chdir")) base = o->value.starts_with("/") ? o->value : base + "/" + o->value;
  std::string told;
  for (std::string_view name : {"output", "error"}) {
    const DirectiveOption* option = look.option(name);
    if (!option || option->value.find('$') != option->value.npos || option->value.starts_with("~")) continue;
    std::string directory = parent_of(option->value);
    if (directory.empty()) continue;
    const bool pattern = directory.find('%') != directory.npos;
    const std::string whole = directory.starts_with("/") ? directory : base + "/" + directory;
    if ((!pattern && look.world->is_directory(whole)) || directory == told) continue;
    told = directory;
    warn(look, option->line, "--" + option->name,
         pattern ? "the directory " + directory + " cannot be there when the job starts" : "the directory " + directory + " does not exist",
         "Muster makes it; other sites' Slurm ends the job without any output: " +
             (pattern ? std::string("put the pattern into the name of the file") : "mkdir -p " + directory + " first"),
         out);
  }
}

// An array whose tasks all write the same file.
void array_output(const Look& look, Findings& out) {
  const DirectiveOption* o = look.option("output");
  if (!o || !look.has("array") || o->value == "none" || o->value.starts_with("/dev/")) return;
  for (std::string_view own : {"%a", "%j", "%J"})
    if (o->value.find(own) != o->value.npos) return;
  // %a may be zero padded, as in %4a.
  for (size_t i = o->value.find('%'); i != o->value.npos; i = o->value.find('%', i + 1)) {
    size_t end = i + 1;
    while (end < o->value.size() && isdigit(static_cast<unsigned char>(o->value[end]))) ++end;
    if (end < o->value.size() && (o->value[end] == 'a' || o->value[end] == 'j' || o->value[end] == 'J')) return;
  }
  warn(look, o->line, "--output", "all tasks of the array write to the same file", "%A_%a in its name tells them apart", out);
}

bool has_word(std::string_view line, std::string_view word) {
  for (size_t at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
    const bool starts = at == 0 || !(isalnum(static_cast<unsigned char>(line[at - 1])) || line[at - 1] == '_');
    const size_t end = at + word.size();
    const bool ends = end == line.size() || !(isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_');
    if (starts && ends) return true;
  }
  return false;
}

// The job has several nodes, but the script starts nothing on them. Other scripts and variables may hide the start: then nothing is
// reported.
void nothing_is_launched(const Look& look, Findings& out) {
  const AskedRequest& request = look.check.options.request;
  const DirectiveOption* option = look.option("nodes");
  if (!option || request.min_nodes < 2 || look.first_command == 0) return;
  for (size_t i = look.first_command - 1; i < look.lines.size(); ++i) {
    std::string_view line = trim(look.lines[i]);
    if (line.starts_with("#")) continue;
    for (std::string_view word :
         {"srun", "mpirun",   "mpiexec", "orterun", "prun",   "ssh",  "pdsh", "clush", "parallel", "torchrun",  "deepspeed", "accelerate",
          "ray",  "charmrun", "ibrun",   "aprun",   "source", "eval", "bash", "sh",    "make",     "snakemake", "nextflow",  "dask"})
      if (has_word(line, word)) return;
    if (line.starts_with(".") || line.starts_with("$") || line.find("./") != line.npos) return;
  }
  warn(look, option->line, "--nodes",
       "the job gets " + std::to_string(request.min_nodes) + " nodes, but the script runs on the first of them only",
       "srun COMMAND starts it on all of them", out);
}

constexpr void (*kRules[])(const Look&, Findings&) = {
    time_in_minutes, memory_without_unit, gres_names,   gpu_counts,          task_counts,
    given_twice,     output_directories,  array_output, nothing_is_launched,
};

}  // namespace

void run_option_rules(const Look& look, Findings& out) {
  for (auto* rule : kRules) rule(look, out);
}

}  // namespace muster::front
