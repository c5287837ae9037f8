/* Writes a line for each callback into the file of its argument log=PATH: context, callback, effective user, items.
 * fail=CONTEXT:CALLBACK makes that one fail, crash=… end in a signal, wait=… stop until the file PATH.go is there.
 * Options: --record=TEXT, --record-flag, --record-maybe[=TEXT]. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <slurm/spank.h>

SPANK_PLUGIN(recorder, 1)

static const char *contexts[] = {"error", "local", "remote", "allocator", "slurmd", "job_script"};
static char given[512];

static int option(int val, const char *optarg, int remote) {
  snprintf(given + strlen(given), sizeof given - strlen(given), " %d:%s:%d", val, optarg ? optarg : "(null)", remote);
  if (optarg && !strcmp(optarg, "bad")) {
    slurm_error("recorder: bad is no value");
    return -1;
  }
  return 0;
}

static struct spank_option table[] = {
    {"record", "TEXT", "[recorder] a text to write down", 1, 1, option},
    {"record-flag", NULL, "[recorder] a flag", 0, 2, option},
    {"record-maybe", "TEXT", "[recorder] perhaps a text", 2, 3, option},
};

static char line[8192];
static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(line + strlen(line), sizeof line - strlen(line), format, args);
  va_end(args);
}

#define ITEM(item, type, format)                          \
  do {                                                    \
    type value = 0;                                       \
    spank_err_t rc = spank_get_item(spank, item, &value); \
    if (rc)                                               \
      add(" " #item "=!%d", (int)rc);                     \
    else                                                  \
      add(" " #item "=" format, value);                   \
  } while (0)

static void items(spank_t spank) {
  int count = 0;
  char **list = NULL;
  gid_t *groups = NULL;
  spank_err_t rc;
  ITEM(S_JOB_UID, uid_t, "%u");
  ITEM(S_JOB_GID, gid_t, "%u");
  ITEM(S_JOB_ID, uint32_t, "%u");
  ITEM(S_JOB_STEPID, uint32_t, "%u");
  ITEM(S_JOB_NNODES, uint32_t, "%u");
  ITEM(S_JOB_NODEID, uint32_t, "%u");
  ITEM(S_JOB_LOCAL_TASK_COUNT, uint32_t, "%u");
  ITEM(S_JOB_TOTAL_TASK_COUNT, uint32_t, "%u");
  ITEM(S_JOB_NCPUS, uint16_t, "%u");
  ITEM(S_TASK_ID, int, "%d");
  ITEM(S_TASK_GLOBAL_ID, uint32_t, "%u");
  ITEM(S_TASK_EXIT_STATUS, int, "%d");
  ITEM(S_TASK_PID, pid_t, "%d");
  ITEM(S_SLURM_VERSION, char *, "%s");
  ITEM(S_SLURM_VERSION_MAJOR, char *, "%s");
  ITEM(S_STEP_CPUS_PER_TASK, uint32_t, "%u");
  ITEM(S_JOB_ALLOC_CORES, char *, "%s");
  ITEM(S_JOB_ALLOC_MEM, uint64_t, "%lu");
  ITEM(S_STEP_ALLOC_CORES, char *, "%s");
  ITEM(S_STEP_ALLOC_MEM, uint64_t, "%lu");
  ITEM(S_SLURM_RESTART_COUNT, uint32_t, "%u");
  ITEM(S_JOB_ARRAY_ID, uint32_t, "%u");
  ITEM(S_JOB_ARRAY_TASK_ID, uint32_t, "%u");
  rc = spank_get_item(spank, S_JOB_ARGV, &count, &list);
  if (rc)
    add(" S_JOB_ARGV=!%d", (int)rc);
  else
    add(" S_JOB_ARGV=%d:%s", count, count ? list[count - 1] : "");
  rc = spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &groups, &count);
  if (rc)
    add(" S_JOB_SUPPLEMENTARY_GIDS=!%d", (int)rc);
  else
    add(" S_JOB_SUPPLEMENTARY_GIDS=%d", count);
  rc = spank_get_item(spank, S_JOB_ENV, &list);
  if (rc) {
    add(" S_JOB_ENV=!%d", (int)rc);
  } else {
    for (count = 0; list[count]; ++count)
      if (!strncmp(list[count], "RECORDED=", 9)) add(" %s", list[count]);
  }
}

static const char *argument(int ac, char **av, const char *name) {
  for (int i = 0; i < ac; ++i)
    if (!strncmp(av[i], name, strlen(name)) && av[i][strlen(name)] == '=') return av[i] + strlen(name) + 1;
  return "";
}

static int called(spank_t spank, const char *callback, int ac, char **av) {
  char here[64], go[512];
  char *value = NULL;
  const char *path = argument(ac, av, "log");
  spank_err_t rc;
  int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0666);
  if (fd < 0) slurm_error("recorder: cannot open '%s'", path);
  snprintf(here, sizeof here, "%s:%s", contexts[spank_context()], callback);
  line[0] = 0;
  add("%s euid=%d remote=%d given=[%s]", here, (int)geteuid(), spank_remote(spank), given);
  rc = spank_option_getopt(spank, &table[0], &value);
  if (rc)
    add(" getopt=!%d", (int)rc);
  else
    add(" getopt=%s", value ? value : "(null)");
  items(spank);
  add("\n");
  if (fd >= 0) {
    if (write(fd, line, strlen(line)) < 0) slurm_error("recorder: cannot write");
    close(fd);
  }
  if (!strcmp(argument(ac, av, "wait"), here)) {
    snprintf(go, sizeof go, "%s.go", path);
    while (access(go, F_OK)) usleep(10000);
  }
  if (!strcmp(argument(ac, av, "crash"), here)) raise(SIGSEGV);
  return strcmp(argument(ac, av, "fail"), here) ? 0 : -1;
}

int slurm_spank_init(spank_t spank, int ac, char **av) {
  if (spank_context() == S_CTX_LOCAL || spank_context() == S_CTX_ALLOCATOR || spank_context() == S_CTX_REMOTE)
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i)
      if (spank_option_register(spank, &table[i])) return -1;
  return called(spank, "init", ac, av);
}

int slurm_spank_init_post_opt(spank_t spank, int ac, char **av) {
  if (!spank_remote(spank) && given[0]) spank_job_control_setenv(spank, "RECORDED", given + 1, 1);
  if (spank_remote(spank)) spank_setenv(spank, "RECORDED", "in slurmstepd", 1);
  return called(spank, "init_post_opt", ac, av);
}

int slurm_spank_task_init(spank_t spank, int ac, char **av) {
  char rank[64] = "RECORDED of rank ";
  if (!spank_getenv(spank, "SLURM_PROCID", rank + strlen(rank), 16)) spank_setenv(spank, "OF_THE_TASK", rank, 0);
  spank_unsetenv(spank, "TO_BE_UNSET");
  slurm_spank_log("recorder: a task begins");
  slurm_debug("recorder: not for everybody");
  return called(spank, "task_init", ac, av);
}

#define CALLBACK(name) \
  int slurm_spank_##name(spank_t spank, int ac, char **av) { return called(spank, #name, ac, av); }
CALLBACK(local_user_init)
CALLBACK(user_init)
CALLBACK(task_init_privileged)
CALLBACK(task_post_fork)
CALLBACK(task_exit)
CALLBACK(exit)
CALLBACK(job_prolog)
CALLBACK(job_epilog)
CALLBACK(slurmd_exit)
