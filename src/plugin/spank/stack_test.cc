#include "plugin/spank/stack.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/version.h"
#include "plugin/spank/option_text.h"

namespace muster::spank {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Variables final : public JobEnvironment {
 public:
  const std::vector<std::string>& entries() const override { return list; }
  void set(const std::string& entry) override {
    unset(std::string_view(entry).substr(0, entry.find('=')));
    list.push_back(entry);
  }
  void unset(std::string_view name) override {
    std::erase_if(list, [&](const std::string& e) { return is_entry_of(e, name); });
  }
  std::vector<std::string> list{"HOME=/h"};
};

// Plugins of testdata/, and what they said.
class Bench {
 public:
  explicit Bench(spank_context_t context, std::vector<step_rpc::SpankPlugin> plugins) {
    auto loaded =
        Stack::load(plugins, context,
                    {[this](os::LogLevel, const std::string& t) { log += t + "\n"; }, [this](const std::string& t) { said += t + "\n"; }});
    if (loaded) stack = std::move(*loaded);
    else error = loaded.error().message();
    if (auto* text = symbol<char>("recorded")) text[0] = 0;
    if (auto* during = symbol<int (*)(spank_t)>("during")) *during = nullptr;
  }
  template <class T>
  static T* symbol(const char* name) {
    void* first = ::dlopen(MUSTER_SPANK_FIRST, RTLD_NOW | RTLD_NOLOAD);
    return first ? static_cast<T*>(::dlsym(first, name)) : nullptr;
  }
  std::string recorded() const { return symbol<char>("recorded"); }
  // `look` runs within a callback of the first plugin.
  void within(Callback callback, int (*look)(spank_t), const TaskFacts* task = nullptr) {
    *symbol<int (*)(spank_t)>("during") = look;
    auto ok = stack->call(callback, task);
    *symbol<int (*)(spank_t)>("during") = nullptr;
    EXPECT_TRUE(ok) << ok.error().message();
  }
  std::string failure(Callback callback) {
    auto ok = stack->call(callback);
    return ok ? "" : std::string(ok.error().message());
  }
  const Option& option(const std::string& name) const { return *std::ranges::find(stack->options(), name, &Option::name); }

  std::unique_ptr<Stack> stack;
  Variables variables;
  std::string log, said, error;
};

step_rpc::SpankPlugin plugin(const char* path, bool required = true, std::vector<std::string> arguments = {}) {
  return {required, path, std::move(arguments), "plugstack.conf:1"};
}

TEST(SpankStack, WhatCannotBeLoaded) {
  EXPECT_THAT(Bench(S_CTX_REMOTE, {plugin(MUSTER_SPANK_NO_PLUGIN)}).error, HasSubstr("is not a SPANK plugin"));
  EXPECT_THAT(Bench(S_CTX_REMOTE, {plugin("/gone.so")}).error, HasSubstr("plugstack.conf:1: plugin /gone.so: "));
  Bench optional(S_CTX_REMOTE, {plugin("/gone.so", false)});
  ASSERT_TRUE(optional.stack);
  EXPECT_THAT(optional.log, HasSubstr("it is optional and left out"));
  EXPECT_EQ(optional.failure(Callback::kInit), "");
}

TEST(SpankStack, RequiredFailsOptionalIsTold) {
  Bench required(S_CTX_REMOTE, {plugin(MUSTER_SPANK_FIRST, true, {"fail=init"})});
  EXPECT_EQ(required.failure(Callback::kInit), "required plugin libspank_first.so: init() failed with rc=-1");
  EXPECT_FALSE(required.stack->blames_job());
  Bench job(S_CTX_REMOTE, {plugin(MUSTER_SPANK_SECOND, true, {"x"})});
  EXPECT_EQ(job.failure(Callback::kInit), "required plugin libspank_second.so: init() failed with rc=1");
  EXPECT_TRUE(job.stack->blames_job());
  Bench optional(S_CTX_REMOTE, {plugin(MUSTER_SPANK_FIRST, false, {"fail=init", "fail=exit"})});
  EXPECT_EQ(optional.failure(Callback::kInit), "");
  EXPECT_THAT(optional.log, HasSubstr("optional plugin libspank_first.so: init() failed with rc=-1: it is not called again"));
  EXPECT_EQ(optional.failure(Callback::kExit), "");
  EXPECT_EQ(optional.recorded(), "init ");
  Bench later(S_CTX_REMOTE, {plugin(MUSTER_SPANK_FIRST, false, {"fail=user_init"})});
  for (Callback c : {Callback::kInit, Callback::kUserInit, Callback::kExit}) EXPECT_EQ(later.failure(c), "");
  EXPECT_THAT(later.log, HasSubstr("user_init() failed with rc=-1: ignored"));
  EXPECT_EQ(later.recorded(), "init user_init exit ");
}

TEST(SpankStack, OptionsReachTheirCallbacks) {
  Bench b(S_CTX_LOCAL, {plugin(MUSTER_SPANK_FIRST), plugin(MUSTER_SPANK_SECOND, false)});
  ASSERT_EQ(b.failure(Callback::kInit), "");
  std::vector<std::string> names;
  for (const Option& o : b.stack->options()) names.push_back(o.name);
  EXPECT_THAT(names, ElementsAre("second-flag", "first-image", "first-flag", "first-maybe"));
  EXPECT_TRUE(b.stack->give(b.option("first-image"), "ubuntu"));
  EXPECT_STREQ(*Bench::symbol<char*>("kept_value"), "ubuntu");
  EXPECT_TRUE(b.stack->give(b.option("first-flag"), std::nullopt));
  EXPECT_TRUE(b.stack->give(b.option("first-maybe"), std::nullopt));
  EXPECT_EQ(b.recorded(), "init option(7,ubuntu,0) option(8,-,0) option(9,-,0) ");
  auto wrong = b.stack->give(b.option("first-image"), "wrong");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message(), "Invalid --first-image argument: wrong");
  EXPECT_THAT(b.stack->given(),
              ElementsAre("_SLURM_SPANK_OPTION_first_plugin_first_image=ubuntu", "_SLURM_SPANK_OPTION_first_plugin_first_flag=",
                          "_SLURM_SPANK_OPTION_first_plugin_first_maybe=", "_SLURM_SPANK_OPTION_first_plugin_first_image=wrong"));
}

TEST(SpankStack, TableOptionsAreNotForAllocators) {
  Bench b(S_CTX_ALLOCATOR, {plugin(MUSTER_SPANK_SECOND, false)});
  EXPECT_TRUE(b.stack->options().empty());
}

TEST(SpankStack, WrongRegistrationsAreRefused) {
  Bench b(S_CTX_LOCAL, {plugin(MUSTER_SPANK_REFUSES), plugin(MUSTER_SPANK_FIRST), plugin(MUSTER_SPANK_FIRST)});
  EXPECT_EQ(b.failure(Callback::kInit), "required plugin libspank_first.so: init() failed with rc=-2");
  EXPECT_THAT(b.log, HasSubstr("an option needs a name of at most 75 characters"));
  EXPECT_THAT(b.log, HasSubstr("option --first-image is one of libspank_first.so already"));
}

TEST(SpankStack, OptionsOnTheNode) {
  Bench b(S_CTX_REMOTE, {plugin(MUSTER_SPANK_FIRST)});
  ASSERT_EQ(b.failure(Callback::kInit), "");
  EXPECT_TRUE(b.stack->give_entries({"_SLURM_SPANK_OPTION_first_plugin_first_image=a=b", "OTHER=1", "_SLURM_SPANK_OPTION_else_x=1"}));
  EXPECT_EQ(b.recorded(), "init option(7,a=b,1) ");
  EXPECT_EQ(b.failure(Callback::kInitPostOpt), "");
  b.within(Callback::kUserInit, [](spank_t s) {
    char name[] = "first-image", flag[] = "first-flag";
    spank_option image{name, nullptr, nullptr, 1, 0, nullptr}, other{flag, nullptr, nullptr, 0, 0, nullptr};
    char* value = nullptr;
    EXPECT_EQ(spank_option_getopt(s, &image, &value), ESPANK_SUCCESS);
    EXPECT_STREQ(value, "a=b");
    EXPECT_EQ(spank_option_getopt(s, &image, nullptr), ESPANK_SUCCESS);
    EXPECT_EQ(spank_option_getopt(s, &other, &value), ESPANK_ERROR);
    EXPECT_EQ(spank_option_getopt(nullptr, &image, &value), ESPANK_BAD_ARG);
    return 0;
  });
}

TEST(SpankStack, PrologsAskForOptions) {
  Bench given(S_CTX_JOB_SCRIPT, {plugin(MUSTER_SPANK_SECOND)});
  given.stack->keep({"_SLURM_SPANK_OPTION_second_second_flag="});
  EXPECT_EQ(given.failure(Callback::kJobProlog), "");
  Bench without(S_CTX_JOB_SCRIPT, {plugin(MUSTER_SPANK_SECOND)});
  EXPECT_EQ(without.failure(Callback::kJobProlog), "required plugin libspank_second.so: job_prolog() failed with rc=3000");
}

TEST(SpankApi, EnvironmentOfTheJob) {
  Bench b(S_CTX_REMOTE, {plugin(MUSTER_SPANK_FIRST)});
  b.stack->environment = &b.variables;
  b.within(Callback::kUserInit, [](spank_t s) {
    char buffer[8];
    EXPECT_EQ(spank_getenv(s, "HOME", buffer, sizeof buffer), ESPANK_SUCCESS);
    EXPECT_STREQ(buffer, "/h");
    EXPECT_EQ(spank_getenv(s, "HOME", buffer, 2), ESPANK_NOSPACE);
    EXPECT_EQ(spank_getenv(s, "HOME", nullptr, 0), ESPANK_NOSPACE);
    EXPECT_EQ(spank_getenv(s, "NONE", nullptr, 0), ESPANK_ENV_NOEXIST);
    EXPECT_EQ(spank_setenv(s, "HOME", "/other", 0), ESPANK_ENV_EXISTS);
    EXPECT_EQ(spank_setenv(s, "HOME", "/other", 1), ESPANK_SUCCESS);
    EXPECT_EQ(spank_setenv(s, "NEW", "1", 0), ESPANK_SUCCESS);
    EXPECT_EQ(spank_setenv(s, "A=B", "1", 0), ESPANK_BAD_ARG);
    EXPECT_EQ(spank_setenv(s, "A", nullptr, 0), ESPANK_BAD_ARG);
    EXPECT_EQ(spank_setenv(s, "GONE", "1", 0), ESPANK_SUCCESS);
    EXPECT_EQ(spank_unsetenv(s, "GONE"), ESPANK_SUCCESS);
    EXPECT_EQ(spank_job_control_setenv(s, "X", "1", 0), ESPANK_NOT_LOCAL);
    char** env = nullptr;
    EXPECT_EQ(spank_get_item(s, S_JOB_ENV, &env), ESPANK_SUCCESS);
    EXPECT_STREQ(env[0], "HOME=/other");
    EXPECT_STREQ(env[1], "NEW=1");
    EXPECT_EQ(env[2], nullptr);
    return 0;
  });
  EXPECT_THAT(b.variables.list, ElementsAre("HOME=/other", "NEW=1"));
}

TEST(SpankApi, JobControlIsForCommands) {
  Bench b(S_CTX_ALLOCATOR, {plugin(MUSTER_SPANK_FIRST)});
  b.within(Callback::kUserInit, [](spank_t s) {
    char buffer[8];
    EXPECT_EQ(spank_job_control_setenv(s, "X", "1", 0), ESPANK_SUCCESS);
    EXPECT_EQ(spank_job_control_setenv(s, "X", "2", 0), ESPANK_ENV_EXISTS);
    EXPECT_EQ(spank_job_control_setenv(s, "Y", "3", 1), ESPANK_SUCCESS);
    EXPECT_EQ(spank_job_control_getenv(s, "X", buffer, sizeof buffer), ESPANK_SUCCESS);
    EXPECT_STREQ(buffer, "1");
    EXPECT_EQ(spank_job_control_unsetenv(s, "X"), ESPANK_SUCCESS);
    EXPECT_EQ(spank_job_control_getenv(s, "X", buffer, sizeof buffer), ESPANK_ENV_NOEXIST);
    EXPECT_EQ(spank_getenv(s, "HOME", buffer, sizeof buffer), ESPANK_NOT_REMOTE);
    EXPECT_EQ(spank_setenv(s, "HOME", "", 1), ESPANK_NOT_REMOTE);
    return 0;
  });
  EXPECT_THAT(b.stack->job_control, ElementsAre("Y=3"));
}

TEST(SpankApi, ItemsOfATask) {
  Bench b(S_CTX_REMOTE, {plugin(MUSTER_SPANK_FIRST)});
  b.stack->facts.tasks = {{0, 4, 100, {}}, {1, 7, 0, {}}};
  b.stack->facts.job_cpus = "0-3";
  b.stack->facts.argv = {"a", "b c"};
  b.stack->facts.num_cpus = 3;
  b.within(
      Callback::kTaskInit,
      [](spank_t s) {
        int local = 0, status = 0, argc = 0;
        uint32_t global = 0;
        uint16_t cpus = 0;
        pid_t pid = 0;
        char** argv = nullptr;
        char* text = nullptr;
        EXPECT_EQ(spank_get_item(s, S_TASK_ID, &local), ESPANK_SUCCESS);
        EXPECT_EQ(spank_get_item(s, S_TASK_GLOBAL_ID, &global), ESPANK_SUCCESS);
        EXPECT_EQ(local, 0);
        EXPECT_EQ(global, 4u);
        EXPECT_EQ(spank_get_item(s, S_TASK_PID, &pid), ESPANK_SUCCESS);
        EXPECT_EQ(pid, 100);
        EXPECT_EQ(spank_get_item(s, S_TASK_EXIT_STATUS, &status), ESPANK_NOT_AVAIL);
        EXPECT_EQ(spank_get_item(s, S_JOB_PID_TO_GLOBAL_ID, pid, &global), ESPANK_SUCCESS);
        EXPECT_EQ(global, 4u);
        EXPECT_EQ(spank_get_item(s, S_JOB_PID_TO_LOCAL_ID, 5, &global), ESPANK_NOEXIST);
        EXPECT_EQ(spank_get_item(s, S_JOB_LOCAL_TO_GLOBAL_ID, 1, &global), ESPANK_SUCCESS);
        EXPECT_EQ(global, 7u);
        EXPECT_EQ(spank_get_item(s, S_JOB_GLOBAL_TO_LOCAL_ID, 7, &global), ESPANK_SUCCESS);
        EXPECT_EQ(global, 1u);
        EXPECT_EQ(spank_get_item(s, S_JOB_GLOBAL_TO_LOCAL_ID, 9, &global), ESPANK_NOEXIST);
        EXPECT_EQ(spank_get_item(s, S_JOB_LOCAL_TASK_COUNT, &global), ESPANK_SUCCESS);
        EXPECT_EQ(global, 2u);
        EXPECT_EQ(spank_get_item(s, S_JOB_NCPUS, &cpus), ESPANK_SUCCESS);
        EXPECT_EQ(cpus, 3);
        EXPECT_EQ(spank_get_item(s, S_JOB_ARGV, &argc, &argv), ESPANK_SUCCESS);
        EXPECT_EQ(argc, 2);
        EXPECT_STREQ(argv[1], "b c");
        EXPECT_EQ(argv[2], nullptr);
        EXPECT_EQ(spank_get_item(s, S_JOB_ALLOC_CORES, &text), ESPANK_SUCCESS);
        EXPECT_STREQ(text, "0-3");
        EXPECT_EQ(spank_get_item(s, S_STEP_ALLOC_CORES, &text), ESPANK_NOT_AVAIL);
        EXPECT_EQ(spank_get_item(s, S_SLURM_VERSION, &text), ESPANK_SUCCESS);
        EXPECT_STREQ(text, kVersion);
        EXPECT_EQ(spank_get_item(s, S_SLURM_VERSION_MINOR, &text), ESPANK_SUCCESS);
        EXPECT_STREQ(text, "05");
        EXPECT_EQ(spank_get_item(s, S_TASK_ID, nullptr), ESPANK_BAD_ARG);
        EXPECT_EQ(spank_get_item(s, static_cast<spank_item_t>(99), &local), ESPANK_BAD_ARG);
        EXPECT_EQ(spank_remote(s), 1);
        EXPECT_EQ(spank_context(), S_CTX_REMOTE);
        return 0;
      },
      &b.stack->facts.tasks[0]);
  b.within(Callback::kUserInit, [](spank_t s) {
    int local = 0;
    EXPECT_EQ(spank_get_item(s, S_TASK_ID, &local), ESPANK_NOT_TASK);
    return 0;
  });
}

TEST(SpankApi, WordsBeforeTheProgramOfATask) {
  Bench b(S_CTX_REMOTE, {plugin(MUSTER_SPANK_FIRST)});
  b.stack->facts.argv = std::vector<std::string>{"a", "b c"};
  b.stack->facts.tasks = {{0, 7, 100, {}}};
  b.within(Callback::kUserInit, [](spank_t s) {
    const char* words[] = {"x"};
    EXPECT_EQ(spank_prepend_task_argv(s, 1, words), ESPANK_NOT_TASK);
    return 0;
  });
  b.within(
      Callback::kTaskInit,
      [](spank_t s) {
        const char *words[] = {"env", "-u", "X"}, *broken[] = {"x", nullptr};
        EXPECT_EQ(spank_prepend_task_argv(s, 2, broken), ESPANK_BAD_ARG);
        EXPECT_EQ(spank_prepend_task_argv(s, -1, words), ESPANK_BAD_ARG);
        EXPECT_EQ(spank_prepend_task_argv(s, 1, nullptr), ESPANK_BAD_ARG);
        EXPECT_EQ(spank_prepend_task_argv(s, 0, nullptr), ESPANK_SUCCESS);
        EXPECT_EQ(spank_prepend_task_argv(s, 3, words), ESPANK_SUCCESS);
        return 0;
      },
      &b.stack->facts.tasks[0]);
  b.within(
      Callback::kTaskInit,
      [](spank_t s) {
        const char* words[] = {"nice"};
        int argc = 0;
        char** argv = nullptr;
        EXPECT_EQ(spank_prepend_task_argv(s, 1, words), ESPANK_SUCCESS);
        EXPECT_EQ(spank_get_item(s, S_JOB_ARGV, &argc, &argv), ESPANK_SUCCESS);
        EXPECT_EQ(argc, 6);
        EXPECT_STREQ(argv[1], "env");
        return 0;
      },
      &b.stack->facts.tasks[0]);
  EXPECT_THAT(*b.stack->facts.argv, ElementsAre("nice", "env", "-u", "X", "a", "b c"));
}

TEST(SpankApi, WordsBeforeAProgramAreOfSlurmstepd) {
  Bench b(S_CTX_LOCAL, {plugin(MUSTER_SPANK_FIRST)});
  b.within(Callback::kLocalUserInit, [](spank_t s) {
    const char* words[] = {"x"};
    EXPECT_EQ(spank_prepend_task_argv(s, 1, words), ESPANK_NOT_REMOTE);
    return 0;
  });
}

TEST(SpankApi, ItemsElsewhere) {
  Bench b(S_CTX_LOCAL, {plugin(MUSTER_SPANK_FIRST)});
  b.stack->facts.uid = 12;
  b.within(Callback::kUserInit, [](spank_t s) {
    uid_t uid = 0;
    uint32_t number = 0;
    char** env = nullptr;
    EXPECT_EQ(spank_get_item(s, S_JOB_UID, &uid), ESPANK_SUCCESS);
    EXPECT_EQ(uid, 12u);
    EXPECT_EQ(spank_get_item(s, S_JOB_ID, &number), ESPANK_NOT_AVAIL);
    EXPECT_EQ(spank_get_item(s, S_JOB_NODEID, &number), ESPANK_NOT_REMOTE);
    EXPECT_EQ(spank_get_item(s, S_TASK_ID, &number), ESPANK_NOT_REMOTE);
    EXPECT_EQ(spank_get_item(s, S_JOB_ENV, &env), ESPANK_SUCCESS);
    EXPECT_EQ(env, environ);
    EXPECT_EQ(spank_remote(s), 0);
    return 0;
  });
  Bench early(S_CTX_REMOTE, {plugin(MUSTER_SPANK_FIRST)});
  early.within(Callback::kUserInit, [](spank_t s) {
    uint32_t number = 0;
    EXPECT_EQ(spank_get_item(s, S_JOB_PID_TO_LOCAL_ID, 5, &number), ESPANK_NOT_EXECD);
    return 0;
  });
}

TEST(SpankApi, WordsAndNames) {
  EXPECT_EQ(spank_context(), S_CTX_ERROR);
  EXPECT_EQ(spank_symbol_supported("slurm_spank_task_init"), 1);
  EXPECT_EQ(spank_symbol_supported("slurm_spank_dance"), 0);
  EXPECT_EQ(spank_symbol_supported(nullptr), 0);
  EXPECT_STREQ(spank_strerror(ESPANK_SUCCESS), "Success");
  EXPECT_STREQ(spank_strerror(ESPANK_NOSPACE), "Buffer too small");
  EXPECT_STREQ(spank_strerror(static_cast<spank_err_t>(17)), "Unknown");
  Bench b(S_CTX_REMOTE, {plugin(MUSTER_SPANK_FIRST)});
  const std::string text(5000, 'x');
  slurm_error("%s %d", text.c_str(), 7);
  slurm_spank_log("pyxis: %s", "importing");
  EXPECT_EQ(b.log.size(), text.size() + 3);
  EXPECT_TRUE(b.log.ends_with("x 7\n")) << b.log.substr(4990);
  EXPECT_EQ(b.said, "pyxis: importing\n");
}

}  // namespace
}  // namespace muster::spank
