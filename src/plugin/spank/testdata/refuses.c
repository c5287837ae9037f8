/* Its options are none: too long a name, and one of a has_arg that does not exist. */
#include <slurm/spank.h>
#include <string.h>

SPANK_PLUGIN(refuses, 1)

int slurm_spank_init(spank_t spank, int ac, char **av) {
  static char name[SPANK_OPTION_MAXLEN + 2];
  struct spank_option wrong = {name, NULL, NULL, 0, 0, NULL};
  (void)ac;
  (void)av;
  memset(name, 'a', SPANK_OPTION_MAXLEN + 1);
  if (spank_option_register(spank, &wrong) != ESPANK_BAD_ARG) return -1;
  name[3] = 0;
  wrong.has_arg = 3;
  return spank_option_register(spank, &wrong) == ESPANK_BAD_ARG ? 0 : -2;
}
