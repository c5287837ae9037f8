/* Records what it is called for, and answers as the arguments of its line say: fail=NAME makes that callback fail. */
#include <slurm/spank.h>
#include <stdio.h>
#include <string.h>

SPANK_PLUGIN(first-plugin, 1)

char recorded[4096];
char *kept_value;

static int image(int val, const char *optarg, int remote) {
  snprintf(recorded + strlen(recorded), sizeof recorded - strlen(recorded), "option(%d,%s,%d) ", val, optarg ? optarg : "-", remote);
  kept_value = (char *)optarg;
  return optarg && !strcmp(optarg, "wrong") ? -1 : 0;
}

static struct spank_option options[] = {
    {"first-image", "IMAGE", "the image", 1, 7, image},
    {"first-flag", NULL, "a flag", 0, 8, image},
    {"first-maybe", "TEXT", "perhaps a text", 2, 9, image},
};

static int record(const char *name, int ac, char **av) {
  char wanted[64];
  snprintf(recorded + strlen(recorded), sizeof recorded - strlen(recorded), "%s ", name);
  snprintf(wanted, sizeof wanted, "fail=%s", name);
  for (int i = 0; i < ac; ++i)
    if (!strcmp(av[i], wanted)) return -1;
  return 0;
}

spank_t handle_of_init;

int slurm_spank_init(spank_t spank, int ac, char **av) {
  handle_of_init = spank;
  for (size_t i = 0; i < sizeof options / sizeof *options; ++i)
    if (spank_option_register(spank, &options[i]) != ESPANK_SUCCESS) return -2;
  return record("init", ac, av);
}

int slurm_spank_init_post_opt(spank_t spank, int ac, char **av) {
  if (spank_option_register(spank, &options[0]) != ESPANK_BAD_ARG) return -3;
  return record("init_post_opt", ac, av);
}

/* The test looks at the interface through these. */
int (*during)(spank_t spank);
int slurm_spank_user_init(spank_t spank, int ac, char **av) {
  if (during) return during(spank);
  return record("user_init", ac, av);
}
int slurm_spank_task_init(spank_t spank, int ac, char **av) {
  if (during) return during(spank);
  return record("task_init", ac, av);
}
int slurm_spank_exit(spank_t spank, int ac, char **av) {
  (void)spank;
  return record("exit", ac, av);
}
