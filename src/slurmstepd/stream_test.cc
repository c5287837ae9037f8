// The stream of one step: what srun and attached readers get and may say. The readers are ours, over real sockets; tasks are pipes.
#include "slurmstepd/stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <list>

#include "net/notify.h"
#include "net/socket.h"
#include "os/files.h"

namespace muster::slurmstepd {
namespace {

constexpr uint8_t kStdout = 1;

// One program that listens for the step: srun or sattach. Until it is told to read, what it is sent stays in its socket.
class Reader {
 public:
  Reader(net::Loop& loop, std::string path) : loop_(loop), path_(std::move(path)) {
    auto listener = net::bind_unix(path_);
    EXPECT_TRUE(listener);
    listener_ = std::move(*listener);
  }
  rpc::StepIo where() const {
    rpc::StepIo io;
    io.path = path_;
    io.key = "key of " + path_;
    return io;
  }
  bool accept() {
    if (!accepted_) accepted_.reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    return static_cast<bool>(accepted_);
  }
  void read() {
    if (channel || !accept()) return;
    channel = net::adopt_channel(loop_, accepted_.release(), net::Peer{});
    channel->on_request = [this](net::Frame f) { on_frame(f); };
    channel->on_closed = [this](const Error&) { closed = true; };
  }
  void leave() {
    if (channel) channel->close();
    channel = nullptr;
    accepted_.reset();
  }
  template <class M>
  void say(const M& m) {
    net::notify(*channel, m);
  }

  net::ChannelPtr channel;
  std::optional<step_rpc::IoHello> hello;
  std::map<std::pair<uint32_t, uint8_t>, std::string> output;  // of a rank's stream; "<end>" behind it when it ended
  std::vector<step_rpc::TaskEnd> ended;
  std::vector<std::string> notes;
  uint64_t taken = 0;
  int letters = 0, aborts = 0, ends = 0;
  bool closed = false;

 private:
  template <class M, class F>
  static void on(const net::Frame& f, F then) {
    if (f.message != M::kNumber) return;
    M m;
    ASSERT_TRUE(wire::decode(f.payload, m));
    then(m);
  }
  void on_frame(const net::Frame& f) {
    on<step_rpc::IoHello>(f, [&](auto& m) { hello = m; });
    on<step_rpc::IoData>(f, [&](auto& m) { output[{m.rank, m.stream}] += m.data + (m.end ? "<end>" : ""); });
    on<step_rpc::IoTaken>(f, [&](auto& m) { taken += m.bytes; });
    on<step_rpc::TasksEnded>(f, [&](auto& m) { ended.insert(ended.end(), m.tasks.begin(), m.tasks.end()); });
    on<step_rpc::StepNote>(f, [&](auto& m) { notes.push_back(m.text); });
    on<step_rpc::StreamEnd>(f, [&](auto&) { ++ends; });
    on<mpi_rpc::NodeLetter>(f, [&](auto&) { ++letters; });
    on<mpi_rpc::StepAbort>(f, [&](auto&) { ++aborts; });
  }

  net::Loop& loop_;
  std::string path_;
  net::UniqueFd listener_, accepted_;
};

struct Pipe {
  os::Fd reader, writer;
};

class StreamTest : public testing::Test {
 protected:
  StreamTest() {
    char name[] = "/tmp/muster-stream-XXXXXX";
    directory = ::mkdtemp(name);
    launch.node = "n1";
    launch.uid = Uid(::getuid());
    launch.tasks.resize(2);
    launch.tasks[1].rank = 1;
    stream.emplace(loop, errands, events());
  }
  ~StreamTest() override {
    stream->close_outputs();
    stream->close();
    errands.end_all();
    std::filesystem::remove_all(directory);
  }
  SrunStream::Events events() {
    SrunStream::Events e;
    e.signal = [this](const step_rpc::IoSignal& m) { signals.push_back(m); };
    e.window = [this](const step_rpc::IoWindow& m) { windows.push_back(m); };
    e.takes_letters = [] { return true; };
    e.letter = [this](const mpi_rpc::NodeLetter&) { ++letters; };
    e.nodes_lost = [this](const mpi_rpc::NodesLost& m) { nodes_lost = m.nodes; };
    e.lost = [this] { ++lost; };
    e.output_ended = [this] { ++output_ended; };
    e.detached = [this] { ++detached; };
    return e;
  }
  // Runs the loop until it holds.
  void until(const std::function<bool()>& holds) {
    const Duration end = net::Loop::monotonic() + seconds(60);
    while (!holds()) {
      ASSERT_LT(net::Loop::monotonic(), end) << "it never came to be";
      turn();
    }
  }
  void turn() {
    auto timer = loop.after(milliseconds(1), [this] { loop.stop(); });
    loop.run();
  }
  Reader& listener() { return readers.emplace_back(loop, directory + "/" + std::to_string(readers.size())); }
  Reader& srun(bool reads = true) {
    Reader& r = listener();
    launch.io = r.where();
    bool connected = false;
    stream->connect(launch, false, [&](const Result<>& ok) {
      EXPECT_TRUE(ok) << ok.error().message();
      connected = true;
    });
    until([&] { return connected && r.accept(); });
    if (reads) {
      r.read();
      until([&] { return r.hello.has_value(); });
    }
    return r;
  }
  Reader& sattach(bool reads = true) {
    Reader& r = listener();
    stream->attach(launch, r.where(), false, [] { return step_rpc::TasksEnded{}; });
    until([&] { return r.accept(); });
    if (reads) r.read();
    until([&] { return stream->attached() && (!reads || r.hello); });
    return r;
  }
  static Pipe make_pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    return {os::Fd(ends[0]), os::Fd(ends[1])};
  }
  os::Fd task(uint32_t rank, uint8_t of = kStdout) {
    Pipe p = make_pipe();
    stream->add_output(rank, of, std::move(p.reader));
    return std::move(p.writer);
  }
  static void write(const os::Fd& to, std::string_view text) {
    ASSERT_EQ(::write(to.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // Writes until the pipe has taken nothing for some turns: how much that was. The stream stopped reading then.
  size_t fill(const os::Fd& to, size_t most) {
    const std::string text(4096, 'x');
    size_t sent = 0;
    for (int quiet = 0; quiet < 20 && sent < most; turn())
      for (++quiet; ::write(to.get(), text.data(), text.size()) > 0 && sent < most; quiet = 0) sent += text.size();
    return sent;
  }

  net::Loop loop;
  Errands errands{loop, std::nullopt};
  step_rpc::StepdLaunch launch;
  std::string directory;
  std::list<Reader> readers;
  std::vector<step_rpc::IoSignal> signals;
  std::vector<step_rpc::IoWindow> windows;
  std::vector<uint32_t> nodes_lost;
  int letters = 0, lost = 0, output_ended = 0, detached = 0;
  std::optional<SrunStream> stream;
};

// ---- the beginning
TEST_F(StreamTest, SaysHelloWithTheKeyTheNodeAndItsTasks) {
  Reader& r = srun();
  EXPECT_EQ(r.hello->key, r.where().key);
  EXPECT_EQ(r.hello->node, "n1");
  EXPECT_EQ(r.hello->ranks, (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(stream->connected());
}

TEST_F(StreamTest, ASrunThatDoesNotListenIsAnErrorAndNotALoss) {
  launch.io.path = directory + "/nobody";
  std::optional<Result<>> got;
  stream->connect(launch, false, [&](const Result<>& ok) { got = ok; });
  EXPECT_FALSE(got) << "never from inside connect()";
  until([&] { return got.has_value(); });
  EXPECT_FALSE(*got);
  EXPECT_FALSE(stream->connected());
  EXPECT_EQ(lost, 0);
}

// The address is the user's word: a name would have to be looked up.
TEST_F(StreamTest, AnAddressThatIsNotNumericIsRefused) {
  launch.io.host = "some.host";
  launch.io.port = 99;
  std::optional<Result<>> got;
  stream->connect(launch, false, [&](const Result<>& ok) { got = ok; });
  until([&] { return got.has_value(); });
  ASSERT_FALSE(*got);
  EXPECT_NE(got->error().message().find("some.host:99"), std::string::npos) << got->error().message();
}

// ---- output
TEST_F(StreamTest, OutputOfEachTaskAndItsEndReachAllReaders) {
  Reader &one = srun(), &two = sattach();
  os::Fd first = task(0), second = task(1, 2);
  write(first, "out");
  write(second, "err");
  first.reset();
  until([&] { return two.output.size() == 2 && two.output[{0, 1}].ends_with("<end>"); });
  EXPECT_EQ(output_ended, 0) << "one is open";
  second.reset();
  until([&] { return output_ended > 0 && two.output[{1, 2}].ends_with("<end>") && one.output == two.output; });
  EXPECT_EQ(output_ended, 1);
  EXPECT_EQ(one.output[std::make_pair(0u, kStdout)], "out<end>");
  EXPECT_EQ(one.output[std::make_pair(1u, uint8_t{2})], "err<end>");
  EXPECT_FALSE(stream->outputs_open());
}

TEST_F(StreamTest, ASlowSrunHoldsUpTheTasksAndReleasesThem) {
  Reader& r = srun(false);
  os::Fd writer = task(0);
  const size_t sent = fill(writer, 64u << 20);
  EXPECT_LT(sent, 8u << 20);
  r.read();
  until([&] { return r.output[{0, 1}].size() == sent; });
  write(writer, "more");
  until([&] { return r.output[{0, 1}].size() == sent + 4; });
}

// A task whose output is opened while srun is behind waits like the others.
TEST_F(StreamTest, OutputAddedWhileSrunIsBehindWaitsToo) {
  srun(false);
  os::Fd writer = task(0);
  fill(writer, 64u << 20);
  os::Fd later = task(1);
  EXPECT_LE(fill(later, 64u << 20), 256u << 10) << "what the pipe itself holds";
}

TEST_F(StreamTest, ASrunThatGoesWhileItIsBehindLeavesTheTasksGoingOn) {
  Reader& r = srun(false);
  os::Fd writer = task(0);
  fill(writer, 64u << 20);
  r.leave();
  until([&] { return lost > 0; });
  EXPECT_EQ(lost, 1);
  EXPECT_FALSE(stream->connected());
  EXPECT_EQ(fill(writer, 16u << 20), 16u << 20) << "read, and dropped";
  writer.reset();
  until([&] { return output_ended == 1; });
}

TEST_F(StreamTest, AnAttachedReaderThatIsSlowIsDroppedAndNobodyWaitsForIt) {
  Reader& one = srun();
  Reader& slow = sattach(false);
  os::Fd writer = task(0);
  EXPECT_EQ(fill(writer, 8u << 20), 8u << 20);
  until([&] { return one.output[{0, 1}].size() == 8u << 20; });
  EXPECT_FALSE(stream->attached());
  until([&] { return detached > 0; });  // the step may be waiting for it
  EXPECT_EQ(detached, 1);
  slow.read();
  until([&] { return slow.closed; });
}

TEST_F(StreamTest, AnAttachedReaderThatGoesIsToldOfOnce) {
  Reader &one = srun(), &two = sattach();
  two.leave();
  until([&] { return detached > 0; });
  EXPECT_FALSE(stream->attached());
  os::Fd writer = task(0);
  write(writer, "x");
  until([&] { return one.output[{0, 1}] == "x"; });
  EXPECT_EQ(detached, 1);
  EXPECT_EQ(lost, 0);
}

TEST_F(StreamTest, AttachedReadersGoOnWithoutSrun) {
  Reader &one = srun(), &two = sattach();
  one.leave();
  until([&] { return lost == 1; });
  os::Fd writer = task(0);
  write(writer, "still");
  until([&] { return two.output[{0, 1}] == "still"; });
}

// Who comes too many is told so and let go: it waits for a hello otherwise as long as the step runs.
TEST_F(StreamTest, AReaderTooManyIsToldSoAndLetGo) {
  srun();
  for (int i = 0; i < 16; ++i) sattach();
  Reader& last = listener();
  stream->attach(launch, last.where(), false, [] { return step_rpc::TasksEnded{}; });
  until([&] { return last.accept(); });
  last.read();
  until([&] { return last.closed; });
  ASSERT_EQ(last.notes.size(), 1u);
  EXPECT_NE(last.notes[0].find("16"), std::string::npos) << last.notes[0];
  EXPECT_EQ(detached, 0) << "it never was attached";
  os::Fd writer = task(0);
  write(writer, "x");
  until([&] { return readers.front().output[{0, 1}] == "x"; });
  EXPECT_EQ(last.output.size(), 0u);
}

TEST_F(StreamTest, AnAttachedReaderHearsFirstWhichTasksAreOver) {
  srun();
  Reader& r = listener();
  stream->attach(launch, r.where(), false, [] { return step_rpc::TasksEnded{{{1, 256, {}}}, false}; });
  until([&] { return r.accept(); });
  r.read();
  until([&] { return !r.ended.empty(); });
  EXPECT_EQ(r.ended[0].rank, 1u);
  EXPECT_EQ(r.ended[0].status, 256);
  EXPECT_TRUE(r.hello);
}

// ---- the end
TEST_F(StreamTest, TheEndIsSaidToAllOnceAndSrunCloses) {
  Reader &one = srun(), &two = sattach();
  stream->tasks_ended({{{0, 0, {}}}, false});
  stream->say_end();
  until([&] { return one.ends > 0 && two.ends > 0; });
  EXPECT_EQ(one.ended.size(), 1u);
  one.leave();
  two.leave();
  until([&] { return lost == 1 && detached == 1; });
  EXPECT_EQ(one.ends + two.ends, 2);
}

// It was on its way when the end was said.
TEST_F(StreamTest, AReaderThatComesAfterTheEndHearsItToo) {
  srun();
  stream->say_end();
  Reader& late = sattach();
  until([&] { return late.ends == 1; });
}

TEST_F(StreamTest, NobodyAttachesToAStreamThatIsClosed) {
  srun();
  Reader& r = listener();
  stream->attach(launch, r.where(), false, [] { return step_rpc::TasksEnded{}; });
  stream->close();
  until([&] { return r.accept(); });
  r.read();
  until([&] { return r.closed; });
  EXPECT_FALSE(stream->attached());
}

// ---- input
TEST_F(StreamTest, InputIsAcknowledgedToWhoeverSentIt) {
  Reader &one = srun(), &two = sattach();
  Pipe in = make_pipe();
  stream->add_input(0, std::move(in.writer));
  one.say(step_rpc::IoData{0, 0, false, "first "});
  until([&] { return one.taken == 6; });
  two.say(step_rpc::IoData{step_rpc::kAllTasks, 0, true, "second"});
  until([&] { return two.taken == 6; });
  char text[64];
  const ssize_t n = ::read(in.reader.get(), text, sizeof text);
  EXPECT_EQ(std::string(text, static_cast<size_t>(std::max<ssize_t>(n, 0))), "first second");
  EXPECT_EQ(::read(in.reader.get(), text, sizeof text), 0) << "and the end";
  EXPECT_EQ(one.taken, 6u);
}

TEST_F(StreamTest, ASrunBeyondItsWindowIsLetGo) {
  Reader &one = srun(), &two = sattach();
  Pipe in = make_pipe();
  stream->add_input(0, std::move(in.writer));
  for (size_t sent = 0; sent < 2 * kInputWindow; sent += 64u << 10) one.say(step_rpc::IoData{0, 0, false, std::string(64u << 10, 'x')});
  until([&] { return one.closed && lost > 0; });
  EXPECT_EQ(lost, 1);
  EXPECT_FALSE(stream->connected());
  EXPECT_TRUE(stream->attached());
  EXPECT_FALSE(two.closed);
}

TEST_F(StreamTest, AnAttachedReaderBeyondItsWindowIsLetGoAlone) {
  Reader &one = srun(), &two = sattach();
  Pipe in = make_pipe();
  stream->add_input(0, std::move(in.writer));
  for (size_t sent = 0; sent < 2 * kInputWindow; sent += 64u << 10) two.say(step_rpc::IoData{0, 0, false, std::string(64u << 10, 'x')});
  until([&] { return two.closed && detached > 0; });
  EXPECT_EQ(detached, 1);
  EXPECT_TRUE(stream->connected());
  EXPECT_FALSE(one.closed);
}

// ---- who may say what
TEST_F(StreamTest, OnlySrunSendsSignalsWindowsAndLetters) {
  Reader &one = srun(), &two = sattach();
  Pipe in = make_pipe();
  stream->add_input(0, std::move(in.writer));
  for (Reader* r : {&two, &one}) {
    r->say(step_rpc::IoSignal{10, false, 0});
    r->say(step_rpc::IoWindow{24, 80});
    r->say(mpi_rpc::NodeLetter{1, {0}, "letter"});
    r->say(mpi_rpc::NodesLost{{3}});
    r->say(step_rpc::IoData{0, 0, false, "."});
    until([&] { return r->taken == 1; });  // all before it was looked at
    EXPECT_EQ(signals.size(), r == &one ? 1u : 0u);
  }
  EXPECT_EQ(signals[0].signal, 10);
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(windows[0].columns, 80);
  EXPECT_EQ(letters, 1);
  EXPECT_EQ(nodes_lost, std::vector<uint32_t>{3});
}

TEST_F(StreamTest, FramesThatMeanNothingChangeNothing) {
  Reader& r = srun();
  Pipe in = make_pipe();
  stream->add_input(0, std::move(in.writer));
  for (uint16_t number : {step_rpc::IoData::kNumber, step_rpc::IoSignal::kNumber, step_rpc::IoWindow::kNumber, mpi_rpc::NodeLetter::kNumber,
                          mpi_rpc::NodesLost::kNumber, step_rpc::StepdLaunch::kNumber, step_rpc::StreamEnd::kNumber, uint16_t{0xffff}})
    r.channel->notify(number, "\xff\xff\xff\xff\xff");
  r.say(step_rpc::IoData{77, 0, false, "for nobody"});
  r.say(step_rpc::IoData{0, 0, false, "."});
  until([&] { return r.taken > 0; });
  char text[64];
  EXPECT_EQ(::read(in.reader.get(), text, sizeof text), 1);
  EXPECT_TRUE(signals.empty() && windows.empty() && nodes_lost.empty());
  EXPECT_EQ(letters, 0);
  EXPECT_TRUE(stream->connected());
}

TEST_F(StreamTest, LettersAndTheWishToEndGoToSrunAlone) {
  Reader &one = srun(), &two = sattach();
  stream->send_letter({0, {1}, "letter"});
  stream->abort_step();
  stream->note("note");
  until([&] { return one.notes.size() == 1 && two.notes.size() == 1; });
  EXPECT_EQ(one.letters + one.aborts, 2);
  EXPECT_EQ(two.letters + two.aborts, 0);
}

// No letter may be lost in between, so the step ends with its stream.
TEST_F(StreamTest, MoreLettersThanSrunTakesEndTheStream) {
  srun(false);
  const std::string content(mpi_rpc::kMaxLetter, 'x');
  for (int sent = 0; lost == 0; ++sent) {
    ASSERT_LT(sent, 8);
    stream->send_letter({0, {1}, content});
  }
  EXPECT_FALSE(stream->connected());
  stream->send_letter({0, {1}, "and one to nobody"});
  EXPECT_EQ(lost, 1);
}

TEST_F(StreamTest, NotesThatSrunDoesNotReadAreBounded) {
  srun(false);
  Reader& two = sattach();
  for (int i = 0; i < 100; ++i) stream->note(std::string(256u << 10, 'n'));
  EXPECT_TRUE(stream->connected());
  until([&] { return !two.notes.empty() || two.closed; });
  EXPECT_LT(two.notes.size(), 100u);
}

}  // namespace
}  // namespace muster::slurmstepd
