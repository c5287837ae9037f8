// Reads a crontab as scrontab(1) has it: blank lines, comments, NAME=VALUE, #SCRON options, and entries of times and a command. Pure; linear
// in the text; any bytes are accepted. Options are split into words here; parser.h gives them their meaning.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster {

struct CrontabEntry {
  uint32_t first_line = 0, last_line = 0;  // of its first #SCRON, and of itself; counted from 1
  std::string times;                       // "@hourly", "0 8 * * mon"
  std::string command;                     // with variables of the crontab replaced
  struct OptionLine {
    uint32_t line = 0;
    std::string text;  // behind "#SCRON"
  };
  std::vector<OptionLine> options;
};

struct CrontabFault {
  uint32_t line = 0;
  Error error;
};

struct CrontabFile {
  std::vector<CrontabEntry> entries;
  std::vector<CrontabFault> faults;           // in the order of the lines; with any, nothing can be installed
  std::vector<uint32_t> options_without_job;  // #SCRON lines after which no entry comes
};
CrontabFile read_crontab(std::string_view text);

// The script of an entry's job.
std::string crontab_script(const CrontabEntry& entry);
// The text of a script in which the entry's options stand as directives of sbatch do.
std::string crontab_directives(const CrontabEntry& entry);
// A job's name: the last part of the command's first word.
std::string crontab_job_name(const CrontabEntry& entry);

// What `scrontab -e` begins with where there is no crontab yet. It has no entries.
std::string_view example_crontab();

}  // namespace muster
