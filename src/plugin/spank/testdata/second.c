/* Options by a table, and the job's fault. */
#include <slurm/spank.h>

SPANK_PLUGIN(second, 1)

const int slurm_spank_init_failure_mode = ESPANK_JOB_FAILURE;

struct spank_option spank_options[] = {{"second-flag", NULL, "a flag of a table", 0, 1, NULL}, SPANK_OPTIONS_TABLE_END};

int slurm_spank_init(spank_t spank, int ac, char **av) {
  (void)spank;
  (void)av;
  return ac;
}
int slurm_spank_job_prolog(spank_t spank, int ac, char **av) {
  char *value = NULL;
  (void)ac;
  (void)av;
  return spank_option_getopt(spank, &spank_options[0], &value);
}
