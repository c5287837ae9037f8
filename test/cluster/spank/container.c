/* A stand-in for Pyxis and enroot: the options that Pyxis documents, and a task that runs in a directory as its root. The
 * image NAME is the directory images=DIR/NAME of the plugin's argument, with '_' for each '/' and ':' of the name; its
 * etc/environment holds the variables of the image. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

SPANK_PLUGIN(pyxis, 1)

static char *image, *mounts, *workdir, *name, *save, *env_names;
static int mount_home = -1, remap_root = -1, entrypoint = -1, entrypoint_log = -1, writable = -1, unshared = -1;

enum { IMAGE, MOUNTS, WORKDIR, NAME, SAVE, ENV };
static char **texts[] = {&image, &mounts, &workdir, &name, &save, &env_names};
static const char *names[] = {"image", "mounts", "workdir", "name", "save", "env"};

static int text(int val, const char *optarg, int remote) {
  (void)remote;
  if (!optarg || !*optarg) {
    slurm_error("pyxis: --container-%s: argument required", names[val]);
    return -1;
  }
  if (val == MOUNTS && !strchr(optarg, '/')) {
    slurm_error("pyxis: --container-mounts: invalid format: %s", optarg);
    return -1;
  }
  if (*texts[val] && strcmp(*texts[val], optarg)) {
    slurm_error("pyxis: --container-%s specified multiple times", names[val]);
    return -1;
  }
  *texts[val] = strdup(optarg);
  return 0;
}

#define SWITCH(variable)                                            \
  static int set_##variable(int val, const char *optarg, int remote) { \
    (void)optarg;                                                   \
    (void)remote;                                                   \
    if (variable != -1 && variable != val) {                        \
      slurm_error("pyxis: both forms of " #variable " were specified"); \
      return -1;                                                    \
    }                                                               \
    variable = val;                                                 \
    return 0;                                                       \
  }
SWITCH(mount_home)
SWITCH(remap_root)
SWITCH(entrypoint)
SWITCH(entrypoint_log)
SWITCH(writable)
SWITCH(unshared)

static struct spank_option options[] = {
    {"container-image", "[USER@][REGISTRY#]IMAGE[:TAG]|PATH", "[pyxis] the image to use for the container filesystem", 1, IMAGE, text},
    {"container-mounts", "SRC:DST[:FLAGS][,SRC:DST...]", "[pyxis] bind mount[s] inside the container", 1, MOUNTS, text},
    {"container-workdir", "PATH", "[pyxis] working directory inside the container", 1, WORKDIR, text},
    {"container-name", "NAME", "[pyxis] name to use for saving and loading the container", 1, NAME, text},
    {"container-save", "PATH", "[pyxis] save the container state to a squashfs file", 1, SAVE, text},
    {"container-mount-home", NULL, "[pyxis] bind mount the user's home directory", 0, 1, set_mount_home},
    {"no-container-mount-home", NULL, "[pyxis] do not bind mount the user's home directory", 0, 0, set_mount_home},
    {"container-remap-root", NULL, "[pyxis] ask to be remapped to root inside the container", 0, 1, set_remap_root},
    {"no-container-remap-root", NULL, "[pyxis] do not remap to root inside the container", 0, 0, set_remap_root},
    {"container-entrypoint", NULL, "[pyxis] execute the entrypoint from the image", 0, 1, set_entrypoint},
    {"no-container-entrypoint", NULL, "[pyxis] do not execute the entrypoint from the image", 0, 0, set_entrypoint},
    {"container-entrypoint-log", NULL, "[pyxis] print the output of the entrypoint script", 0, 1, set_entrypoint_log},
    {"no-container-entrypoint-log", NULL, "[pyxis] do not print the output of the entrypoint script", 0, 0, set_entrypoint_log},
    {"container-writable", NULL, "[pyxis] make the container filesystem writable", 0, 1, set_writable},
    {"container-readonly", NULL, "[pyxis] make the container filesystem read-only", 0, 0, set_writable},
    {"container-unshare", NULL, "[pyxis] give the container namespaces of its own", 0, 1, set_unshared},
    {"no-container-unshare", NULL, "[pyxis] give the container no namespaces of its own", 0, 0, set_unshared},
    {"container-env", "NAME[,NAME...]", "[pyxis] environment variables to take from the host, not from the image", 1, ENV, text},
    SPANK_OPTIONS_TABLE_END};

int slurm_spank_init(spank_t spank, int ac, char **av) {
  (void)ac;
  (void)av;
  if (spank_context() != S_CTX_LOCAL && spank_context() != S_CTX_ALLOCATOR && spank_context() != S_CTX_REMOTE) return 0;
  for (int i = 0; options[i].name; ++i)
    if (spank_option_register(spank, &options[i]) != ESPANK_SUCCESS) return -1;
  return 0;
}

int slurm_spank_init_post_opt(spank_t spank, int ac, char **av) {
  (void)spank;
  (void)ac;
  (void)av;
  if (image) return 0;
  if (mounts) slurm_error("pyxis: ignoring --container-mounts because neither --container-image nor --container-name is set");
  return 0;
}

static char root[4096];

int slurm_spank_user_init(spank_t spank, int ac, char **av) {
  const char *images = ac && !strncmp(av[0], "images=", 7) ? av[0] + 7 : "";
  (void)spank;
  if (!image) return 0;
  size_t start = (size_t)snprintf(root, sizeof root, "%s/", images);
  snprintf(root + start, sizeof root - start, "%s", image);
  for (char *c = root + start; *c; ++c)
    if (*c == '/' || *c == ':') *c = '_';
  if (access(root, R_OK)) {
    slurm_error("pyxis: no such image: %s", image);
    return -1;
  }
  slurm_spank_log("pyxis: imported docker image: %s", image);
  return 0;
}

static int failed(const char *what) {
  slurm_error("pyxis: %s: %s", what, strerror(errno));
  return -1;
}

static int mount_all(void) {
  char *rest = mounts, *one;
  while ((one = strsep(&rest, ","))) {
    char *source = strsep(&one, ":"), *target = one ? strsep(&one, ":") : source, whole[8192];
    snprintf(whole, sizeof whole, "%s%s", root, target);
    mkdir(whole, 0755);
    if (mount(source, whole, NULL, MS_BIND | MS_REC, NULL)) return failed(source);
    if (one && !strcmp(one, "ro") && mount(NULL, whole, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL)) return failed("ro");
  }
  return 0;
}

static int wanted_from_host(const char *variable) {
  char list[4096], *rest = list, *one;
  snprintf(list, sizeof list, "%s", env_names ? env_names : "");
  while ((one = strsep(&rest, ",")))
    if (!strcmp(one, variable)) return 1;
  return 0;
}

static int take_environment(spank_t spank) {
  char path[8192], line[1024];
  snprintf(path, sizeof path, "%s/etc/environment", root);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    char *value = strchr(line, '=');
    if (!value) continue;
    *value++ = 0;
    if (!wanted_from_host(line) && spank_setenv(spank, line, value, 1)) return -1;
  }
  fclose(file);
  return 0;
}

int slurm_spank_task_init(spank_t spank, int ac, char **av) {
  (void)ac;
  (void)av;
  if (!image) return 0;
  if (take_environment(spank)) return failed("environment");
  if (unshare(CLONE_NEWNS)) return failed("unshare");
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) return failed("private mounts");
  if (mount(root, root, NULL, MS_BIND | MS_REC, NULL)) return failed("bind");
  if (mount_all()) return -1;
  if (chdir(root) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH)) return failed("pivot_root");
  if (writable == 0 && mount(NULL, "/", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL)) return failed("read-only");
  if (chdir(workdir ? workdir : "/")) return failed(workdir ? workdir : "/");
  return 0;
}
