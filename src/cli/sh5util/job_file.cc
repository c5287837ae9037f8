#include "cli/sh5util/job_file.h"

#include <hdf5.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "base/text.h"

namespace muster::cli {
namespace {

constexpr size_t kCell = 8;  // bytes of a value, whole or real
constexpr hsize_t kMostRowsOfAChunk = 1024;
constexpr unsigned kPacking = 4;  // of gzip's 9
constexpr size_t kMostName = 1024;

// An object of the library, closed by the function that its kind has.
class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { static_cast<void>(close()); }
  bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }
  explicit operator bool() const { return id_ >= 0; }
  hid_t get() const { return id_; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

// The library prints its errors unless it is told not to.
void be_quiet() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

// Nobody else has the file: locks, which some shared file systems do not have, are not needed.
Handle without_locks() {
  Handle how(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_file_locking(how.get(), false, true);
  return how;
}

Handle group(hid_t parent, const std::string& name) {
  if (H5Lexists(parent, name.c_str(), H5P_DEFAULT) > 0) return {H5Gopen2(parent, name.c_str(), H5P_DEFAULT), H5Gclose};
  return {H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose};
}

bool put_attribute(hid_t object, const char* name, hid_t type, const void* value) {
  constexpr hsize_t kOne = 1;
  const Handle space(H5Screate_simple(1, &kOne, nullptr), H5Sclose);
  if (H5Aexists(object, name) > 0) H5Adelete(object, name);
  const Handle attribute(H5Acreate2(object, name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute && H5Awrite(attribute.get(), type, value) >= 0;
}
bool put_number(hid_t object, const char* name, uint32_t value) {
  const auto number = static_cast<int32_t>(std::min<uint32_t>(value, INT32_MAX));
  return put_attribute(object, name, H5T_NATIVE_INT32, &number);
}
bool put_text(hid_t object, const char* name, const std::string& text) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), std::max<size_t>(1, text.size()));
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  return put_attribute(object, name, type.get(), text.c_str());
}

std::string start_text(Time time) {
  const time_t when = std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  tm parts{};
  char out[64];
  if (!localtime_r(&when, &parts) || strftime(out, sizeof out, "%a %b %e %H:%M:%S %Y", &parts) == 0) return "Unknown";
  return out;
}

Handle row_type(const Table& table) {
  Handle type(H5Tcreate(H5T_COMPOUND, table.columns.size() * kCell), H5Tclose);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    H5Tinsert(type.get(), column.name.c_str(), i * kCell, column.real ? H5T_IEEE_F64LE : H5T_STD_U64LE);
  }
  return type;
}

bool write_table(hid_t parent, const std::string& name, const Table& table) {
  const size_t width = table.columns.size();
  std::vector<char> rows(table.rows() * width * kCell);
  for (size_t i = 0; i < width; ++i)
    for (size_t row = 0; row < table.rows(); ++row) {
      const Column& column = table.columns[i];
      const void* value = column.real ? static_cast<const void*>(&column.fractions[row]) : &column.whole[row];
      std::memcpy(&rows[(row * width + i) * kCell], value, kCell);
    }
  const hsize_t size = table.rows(), endless = H5S_UNLIMITED, chunk = std::clamp<hsize_t>(size, 1, kMostRowsOfAChunk);
  const Handle type = row_type(table), space(H5Screate_simple(1, &size, &endless), H5Sclose), how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(how.get(), 1, &chunk);
  H5Pset_deflate(how.get(), kPacking);
  const Handle set(H5Dcreate2(parent, name.c_str(), type.get(), space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT), H5Dclose);
  return set && H5Dwrite(set.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) >= 0;
}

bool write_node(hid_t node, const std::string& name, const NodeTables& tables) {
  const ProfileHeader& header = tables.header;
  bool good = put_number(node, "Node Index", header.node_id) && put_text(node, "Node Name", name) &&
              put_number(node, "Number of Tasks", header.tasks) && put_number(node, "CPUs per Task", header.cpus_per_task) &&
              put_text(node, "Start Time", start_text(header.started));
  if (tables.energy) good = good && write_table(node, "Energy", *tables.energy);
  if (tables.tasks.empty()) return good;
  const Handle tasks = group(node, "Tasks");
  for (const auto& [rank, table] : tables.tasks) good = good && tasks && write_table(tasks.get(), std::to_string(rank), table);
  return good;
}

herr_t add_name(hid_t, const char* name, const H5L_info_t*, void* to) {
  auto& names = *static_cast<std::vector<std::string>*>(to);
  if (names.size() >= JobFile::kMostNames) return 1;
  if (std::strlen(name) <= kMostName) names.emplace_back(name);
  return 0;
}

// Whether the path leads to something of this file, by no link to another place. Whoever made the file may be another than who reads it, who may
// be root: a link or values kept elsewhere could show files that only the reader may read.
bool is_inside(hid_t file, const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    H5L_info_t link{};
    if (H5Lget_info(file, path.substr(0, end).c_str(), &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD) return false;
    if (end == std::string::npos) return true;
  }
}

bool is_kept_inside(hid_t set) {
  const Handle how(H5Dget_create_plist(set), H5Pclose);
  if (!how || H5Pget_external_count(how.get()) != 0) return false;
  const H5D_layout_t layout = H5Pget_layout(how.get());
  return layout == H5D_COMPACT || layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED;
}

// What is in a group; nothing where there is no such group.
std::vector<std::string> names_in(hid_t file, const std::string& path) {
  std::vector<std::string> out;
  if (!is_inside(file, path)) return out;
  const Handle parent(H5Gopen2(file, path.c_str(), H5P_DEFAULT), H5Gclose);
  if (parent) H5Literate(parent.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add_name, &out);
  std::ranges::sort(out, name_before);
  return out;
}

std::string node_path(const std::string& step, const std::string& node) { return "/Steps/" + step + "/Nodes/" + node; }

// The columns of a set, without values: its whole and real numbers of one value each.
Result<Table> columns_of(hid_t type, const std::string& path) {
  Table out;
  const int members = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_nmembers(type) : 0;
  if (members <= 0 || members > static_cast<int>(JobFile::kMostColumns)) return fail(Errc::kInvalidArgument, path + " is no table");
  for (unsigned i = 0; i < static_cast<unsigned>(members); ++i) {
    const H5T_class_t kind = H5Tget_member_class(type, i);
    if (kind != H5T_INTEGER && kind != H5T_FLOAT) return fail(Errc::kInvalidArgument, path + " has a column that is no number");
    char* name = H5Tget_member_name(type, i);
    out.columns.push_back({name ? name : "", kind == H5T_FLOAT, {}, {}});
    H5free_memory(name);
  }
  return out;
}

}  // namespace

bool name_before(const std::string& a, const std::string& b) {
  const auto one = parse_number<uint64_t>(a), other = parse_number<uint64_t>(b);
  if (one && other && *one != *other) return *one < *other;
  return one.has_value() != other.has_value() ? one.has_value() : a < b;
}

// ---- writing
struct JobFileWriter::State {
  std::string path;
  Handle file, steps;
  std::map<std::string, std::set<std::string>> nodes;  // by step
};

JobFileWriter::JobFileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
JobFileWriter::JobFileWriter(JobFileWriter&&) noexcept = default;
JobFileWriter::~JobFileWriter() = default;

// By its descriptor, since whoever owns the directory may meanwhile have put a link where the name was.
Result<JobFileWriter> JobFileWriter::create(int fd, const std::string& path) {
  be_quiet();
  auto state = std::make_unique<State>();
  state->path = path;
  const std::string open_file = "/proc/self/fd/" + std::to_string(fd);
  state->file = Handle(H5Fcreate(open_file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, without_locks().get()), H5Fclose);
  if (state->file) state->steps = group(state->file.get(), "Steps");
  if (!state->steps) return fail(Errc::kIo, path + ": HDF5 cannot write it");
  return JobFileWriter(std::move(state));
}

Result<> JobFileWriter::add(const std::string& step, const std::string& node, const NodeTables& tables) {
  state_->nodes[step].insert(node);
  const Handle of_step = group(state_->steps.get(), step);
  const Handle nodes = of_step ? group(of_step.get(), "Nodes") : Handle();
  const Handle of_node = nodes ? group(nodes.get(), node) : Handle();
  const auto count = static_cast<uint32_t>(state_->nodes[step].size());
  if (of_node && put_number(of_step.get(), "Number of Nodes", count) && write_node(of_node.get(), node, tables)) return {};
  return fail(Errc::kIo, state_->path + ": HDF5 cannot write step " + step + " of " + node);
}

Result<> JobFileWriter::finish() {
  const bool counted = put_number(state_->file.get(), "Number of Steps", static_cast<uint32_t>(state_->nodes.size()));
  const bool written = H5Fflush(state_->file.get(), H5F_SCOPE_GLOBAL) >= 0;
  if (counted && state_->steps.close() && state_->file.close() && written) return {};
  return fail(Errc::kIo, state_->path + ": HDF5 cannot complete it");
}

// ---- reading
struct JobFile::State {
  std::string path;
  Handle file;
};

JobFile::JobFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
JobFile::JobFile(JobFile&&) noexcept = default;
JobFile::~JobFile() = default;

Result<JobFile> JobFile::open(const std::string& path) {
  be_quiet();
  auto state = std::make_unique<State>();
  state->path = path;
  state->file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, without_locks().get()), H5Fclose);
  if (!state->file) return fail(Errc::kNotFound, "Failed to open " + path);
  if (H5Lexists(state->file.get(), "Steps", H5P_DEFAULT) <= 0)
    return fail(Errc::kInvalidArgument, path + " is no file of a job's profiles");
  return JobFile(std::move(state));
}

std::vector<std::string> JobFile::steps() const { return names_in(state_->file.get(), "/Steps"); }
std::vector<std::string> JobFile::nodes(const std::string& step) const { return names_in(state_->file.get(), "/Steps/" + step + "/Nodes"); }

std::vector<std::string> JobFile::series(const std::string& step, const std::string& node) const {
  std::vector<std::string> out;
  for (const std::string& name : names_in(state_->file.get(), node_path(step, node)))
    if (name != "Tasks") out.push_back(name);
  for (const std::string& task : names_in(state_->file.get(), node_path(step, node) + "/Tasks")) out.push_back("Tasks/" + task);
  return out;
}

Result<Table> JobFile::read(const std::string& step, const std::string& node, const std::string& series) const {
  const std::string path = node_path(step, node) + "/" + series;
  if (!is_inside(state_->file.get(), path)) return fail(Errc::kNotFound, "Series " + series + " not found");
  const Handle set(H5Dopen2(state_->file.get(), path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!set) return fail(Errc::kNotFound, "Series " + series + " not found");
  if (!is_kept_inside(set.get())) return fail(Errc::kInvalidArgument, path + " keeps its values in another file, which is not read");
  const Handle type(H5Dget_type(set.get()), H5Tclose), space(H5Dget_space(set.get()), H5Sclose);
  MUSTER_TRY(table, columns_of(type.get(), path));
  const hssize_t rows = H5Sget_simple_extent_npoints(space.get());
  if (rows < 0 || H5Sget_simple_extent_ndims(space.get()) != 1 || static_cast<size_t>(rows) > kMostRows)
    return fail(Errc::kInvalidArgument, path + " has more than " + std::to_string(kMostRows) + " rows, or no rows");
  for (Column& column : table.columns) {
    const hid_t value = column.real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_UINT64;
    const Handle one(H5Tcreate(H5T_COMPOUND, kCell), H5Tclose);
    H5Tinsert(one.get(), column.name.c_str(), 0, value);
    column.whole.resize(column.real ? 0 : static_cast<size_t>(rows));
    column.fractions.resize(column.real ? static_cast<size_t>(rows) : 0);
    void* to = column.real ? static_cast<void*>(column.fractions.data()) : column.whole.data();
    if (rows && H5Dread(set.get(), one.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, to) < 0) return fail(Errc::kIo, path + " cannot be read");
  }
  return table;
}

}  // namespace muster::cli
