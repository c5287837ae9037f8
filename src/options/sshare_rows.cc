// sshare's options. sshare(1).
#include "options/query_rows.h"

namespace muster {
namespace {
using namespace options_detail;
using O = SshareOptions;

// "-A one -A two" is "-A one,two".
Result<> add_accounts(O& o, const Given& g) {
  for (std::string_view part : split_outside_brackets(g.value)) o.accounts.emplace_back(trim(part));
  return {};
}

constexpr OptionRow<O> kRows[] = {
    {{.name = "accounts",
      .letter = 'A',
      .arg = Arg::kRequired,
      .arg_name = "accounts",
      .commands = kSshare,
      .section = Section::kFilter,
      .summary = "these accounts",
      .doc = "Account names with commas: only these, and their users."},
     add_accounts},
    {{.name = "all",
      .letter = 'a',
      .commands = kSshare,
      .section = Section::kFilter,
      .summary = "all users",
      .doc = "Shows all users below their accounts, not only yourself."},
     q_flag<O, &O::all_users>},
    {{.name = "users",
      .letter = 'u',
      .arg = Arg::kRequired,
      .arg_name = "users",
      .commands = kSshare,
      .section = Section::kFilter,
      .summary = "these users",
      .doc = "User names or numbers with commas: only these below the accounts."},
     q_list<O, &O::users>},
    {{.name = "Users",
      .letter = 'U',
      .commands = kSshare,
      .section = Section::kFilter,
      .summary = "users without accounts",
      .doc = "Shows the lines of users and none of accounts."},
     q_flag<O, &O::only_users>},
    {{.name = "format",
      .letter = 'o',
      .arg = Arg::kRequired,
      .arg_name = "fields",
      .commands = kSshare,
      .section = Section::kDisplay,
      .summary = "columns, by name",
      .doc = "Names of columns with commas; --helpformat lists them. %N after a name makes it N characters wide, %-N "
             "puts the value to the left."},
     q_text<O, &O::format>},
    {{.name = "helpformat",
      .letter = 'e',
      .commands = kSshare,
      .section = Section::kDisplay,
      .summary = "list the columns",
      .doc = "Lists the names that --format takes."},
     q_flag<O, &O::helpformat>},
    {{.name = "long",
      .letter = 'l',
      .commands = kSshare,
      .section = Section::kDisplay,
      .summary = "more columns",
      .doc = "The normalized usage, with the fair tree LevelFS, the limit on TRES-minutes and the TRES-minutes of running jobs, too."},
     q_flag<O, &O::long_output>},
    {{.name = "partition",
      .letter = 'm',
      .commands = kSshare,
      .section = Section::kDisplay,
      .summary = "a column for partitions",
      .doc = "Names the partition of associations that are for one partition only."},
     q_flag<O, &O::partitions>},
    MUSTER_PARSABLE_ROWS(O, kSshare),
    data_row<O, DataOutput::Kind::kJson>(kSshare, "json", "print JSON",
                                         "Prints all fields as JSON; 'list' prints the data parsers there are."),
    data_row<O, DataOutput::Kind::kYaml>(kSshare, "yaml", "print YAML",
                                         "Prints all fields as YAML; 'list' prints the data parsers there are."),
    MUSTER_DATA_STYLE_ROWS(O, kSshare),
    clusters_row<O>(kSshare),
    verbose_row<O>(kSshare, "Prints what sshare was told."),
    usage_row<O>(kSshare),
    MUSTER_HELP_ROWS(O, kSshare, 'h'),
    MUSTER_CONF_ROWS(O, kSshare),
};
}  // namespace

std::span<const OptionRow<SshareOptions>> sshare_rows() { return kRows; }

}  // namespace muster
