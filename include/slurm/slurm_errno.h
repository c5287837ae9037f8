/* What functions of the plugin interface return. Numbers are those of Slurm: plugins that were built elsewhere know them. */
#ifndef MUSTER_SLURM_ERRNO_H
#define MUSTER_SLURM_ERRNO_H

#define SLURM_SUCCESS 0
#define SLURM_ERROR (-1)

typedef enum {
  ESPANK_SUCCESS = 0,
  ESPANK_ERROR = 3000,       /* anything else; an option that was not given */
  ESPANK_BAD_ARG = 3001,     /* no such handle, item or option; a null pointer where a result goes */
  ESPANK_NOT_TASK = 3002,    /* asks for a task outside of a task's callbacks */
  ESPANK_ENV_EXISTS = 3003,  /* the variable is set, and overwrite is 0 */
  ESPANK_ENV_NOEXIST = 3004, /* there is no such variable */
  ESPANK_NOSPACE = 3005,     /* the value does not fit into the buffer */
  ESPANK_NOT_REMOTE = 3006,  /* for slurmstepd only */
  ESPANK_NOEXIST = 3007,     /* no task of this node has that number or process */
  ESPANK_NOT_EXECD = 3008,   /* asks by process while no task has one */
  ESPANK_NOT_AVAIL = 3009,   /* not known in this callback */
  ESPANK_NOT_LOCAL = 3010,   /* for srun, sbatch and salloc only */
  /* values of slurm_spank_init_failure_mode */
  ESPANK_JOB_FAILURE = 3011,
  ESPANK_NODE_FAILURE = 3012
} slurm_err_t;

#endif
