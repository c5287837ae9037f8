/* SPANK: the interface of plugins that take part in the launch of jobs. spank(8).
 *
 * A plugin is a shared object with SPANK_PLUGIN(name, version) and any of the slurm_spank_ functions below. It is named in
 * plugstack.conf and loaded by srun (S_CTX_LOCAL), sbatch and salloc (S_CTX_ALLOCATOR), slurmstepd (S_CTX_REMOTE), slurmd
 * (S_CTX_SLURMD) and beside prologs and epilogs (S_CTX_JOB_SCRIPT).
 *
 * Names, values and signatures are Slurm's: a plugin that was built against Slurm's header loads as it is, and one that is
 * built against this header is the same object. Nothing here is linked: the program that loads a plugin has the functions.
 */
#ifndef MUSTER_SPANK_H
#define MUSTER_SPANK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#include "slurm_errno.h"
#include "slurm_version.h"

#ifdef __cplusplus
extern "C" {
#define MUSTER_SPANK_EXTERN extern "C"
#else
#define MUSTER_SPANK_EXTERN extern
#endif

typedef slurm_err_t spank_err_t;

/* What a callback is handed, and hands to the functions below. Valid within that callback. */
typedef struct spank_handle* spank_t;

/* ---- the callbacks. 0: well. Anything else: the plugin failed, which ends the launch if plugstack.conf says `required`.
 * argv are the arguments of the plugin's line in plugstack.conf. */
typedef int(spank_f)(spank_t spank, int ac, char* argv[]);

extern spank_f slurm_spank_init;                 /* loaded: the place to register options */
extern spank_f slurm_spank_init_post_opt;        /* options are known */
extern spank_f slurm_spank_local_user_init;      /* srun: the step has its number, its tasks do not run yet */
extern spank_f slurm_spank_user_init;            /* slurmstepd, as the user */
extern spank_f slurm_spank_task_init_privileged; /* in each task's process, as root */
extern spank_f slurm_spank_task_init;            /* in each task's process, as the user, last before its program */
extern spank_f slurm_spank_task_post_fork;       /* slurmstepd, for each task, before any task runs its program */
extern spank_f slurm_spank_task_exit;            /* slurmstepd, for each task that ended */
extern spank_f slurm_spank_exit;                 /* the program that loaded the plugin is about to end */
extern spank_f slurm_spank_job_prolog;           /* beside Prolog, in a process of its own */
extern spank_f slurm_spank_job_epilog;           /* beside Epilog, in a process of its own */
extern spank_f slurm_spank_slurmd_exit;          /* slurmd ends */

/* A plugin may define it: whose fault a failed slurm_spank_init is in slurmstepd. ESPANK_NODE_FAILURE (as without it): the
 * node is drained and the job may run again elsewhere. ESPANK_JOB_FAILURE: the job fails, the node stays. */
extern const int slurm_spank_init_failure_mode;

/* 1: such a callback is called here; 0: it is not known. */
int spank_symbol_supported(const char* symbol);

/* ---- where the plugin runs */
enum spank_context { S_CTX_ERROR = 0, S_CTX_LOCAL = 1, S_CTX_REMOTE = 2, S_CTX_ALLOCATOR = 3, S_CTX_SLURMD = 4, S_CTX_JOB_SCRIPT = 5 };
typedef enum spank_context spank_context_t;

spank_context_t spank_context(void);
/* 1: slurmstepd; 0: elsewhere; -1: not a handle. */
int spank_remote(spank_t spank);

/* ---- what there is to know. The arguments after the item are named beside it: where the answer goes, and before that,
 * for the items that translate numbers, what is asked about. Texts and lists stay the host's: copy what must last. */
enum spank_item {
  S_JOB_UID = 0,                 /* uid_t * */
  S_JOB_GID = 1,                 /* gid_t * */
  S_JOB_ID = 2,                  /* uint32_t * */
  S_JOB_STEPID = 3,              /* uint32_t *; 0xfffffffb is the batch script */
  S_JOB_NNODES = 4,              /* uint32_t *, nodes of the step */
  S_JOB_NODEID = 5,              /* uint32_t *, this one among them, from 0 */
  S_JOB_LOCAL_TASK_COUNT = 6,    /* uint32_t *, tasks on this node */
  S_JOB_TOTAL_TASK_COUNT = 7,    /* uint32_t *, tasks of the step */
  S_JOB_NCPUS = 8,               /* uint16_t *, CPUs of the step on this node */
  S_JOB_ARGV = 9,                /* int *, char *** */
  S_JOB_ENV = 10,                /* char ***, ends with a null pointer; change it by spank_setenv only */
  S_TASK_ID = 11,                /* int *, within this node */
  S_TASK_GLOBAL_ID = 12,         /* uint32_t *, its rank */
  S_TASK_EXIT_STATUS = 13,       /* int *, as wait(2) has it; in slurm_spank_task_exit */
  S_TASK_PID = 14,               /* pid_t * */
  S_JOB_PID_TO_GLOBAL_ID = 15,   /* pid_t, uint32_t * */
  S_JOB_PID_TO_LOCAL_ID = 16,    /* pid_t, uint32_t * */
  S_JOB_LOCAL_TO_GLOBAL_ID = 17, /* uint32_t, uint32_t * */
  S_JOB_GLOBAL_TO_LOCAL_ID = 18, /* uint32_t, uint32_t * */
  S_JOB_SUPPLEMENTARY_GIDS = 19, /* gid_t **, int * */
  S_SLURM_VERSION = 20,          /* char **, "26.05.3" */
  S_SLURM_VERSION_MAJOR = 21,    /* char **, "26" */
  S_SLURM_VERSION_MINOR = 22,    /* char **, "05" */
  S_SLURM_VERSION_MICRO = 23,    /* char **, "3" */
  S_STEP_CPUS_PER_TASK = 24,     /* uint32_t * */
  S_JOB_ALLOC_CORES = 25,        /* char **, the job's CPUs on this node: "0-3,8" */
  S_JOB_ALLOC_MEM = 26,          /* uint64_t *, MiB of the job on this node */
  S_STEP_ALLOC_CORES = 27,       /* char **, those of the step */
  S_STEP_ALLOC_MEM = 28,         /* uint64_t *, MiB of the step on this node */
  S_SLURM_RESTART_COUNT = 29,    /* uint32_t *, how often the job was requeued */
  S_JOB_ARRAY_ID = 30,           /* uint32_t *, 0 outside of an array */
  S_JOB_ARRAY_TASK_ID = 31       /* uint32_t *, 0xfffffffe outside of an array */
};
typedef enum spank_item spank_item_t;

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...);

/* ---- the environment of the job. In slurmstepd; srun, sbatch and salloc have getenv(3) and setenv(3). */
spank_err_t spank_getenv(spank_t spank, const char* var, char* buf, int len);
spank_err_t spank_setenv(spank_t spank, const char* var, const char* val, int overwrite);
spank_err_t spank_unsetenv(spank_t spank, const char* var);

/* ---- the program. In slurm_spank_task_init_privileged and slurm_spank_task_init: the task runs argv[0], looked up in its PATH,
 * with the rest of argv and then what it would have run, program and arguments. Words given later stand before earlier ones;
 * S_JOB_ARGV shows them. argv is copied. Elsewhere: ESPANK_NOT_REMOTE, ESPANK_NOT_TASK. */
spank_err_t spank_prepend_task_argv(spank_t spank, int argc, const char* argv[]);

/* Of prologs and epilogs, where each name gets SPANK_ before it. In srun, sbatch and salloc, for the job they make. */
spank_err_t spank_job_control_getenv(spank_t spank, const char* var, char* buf, int len);
spank_err_t spank_job_control_setenv(spank_t spank, const char* var, const char* val, int overwrite);
spank_err_t spank_job_control_unsetenv(spank_t spank, const char* var);

/* ---- options for users */
#define SPANK_OPTION_MAXLEN 75 /* of a name */

/* remote: 0 on the command line, 1 in slurmstepd. Not 0 comes back: the value is refused. */
typedef int (*spank_opt_cb_f)(int val, const char* optarg, int remote);

struct spank_option {
  char* name;    /* without dashes */
  char* arginfo; /* of --help; null without an argument */
  char* usage;   /* of --help */
  int has_arg;   /* 0: none, 1: required, 2: optional */
  int val;       /* for cb */
  spank_opt_cb_f cb;
};

/* A plugin may define it instead of registering options; not for sbatch and salloc. The last element is all zeros. */
extern struct spank_option spank_options[];
#define SPANK_OPTIONS_TABLE_END \
  { NULL, NULL, NULL, 0, 0, NULL }

/* In slurm_spank_init. */
spank_err_t spank_option_register(spank_t spank, struct spank_option* opt);
/* ESPANK_SUCCESS: the user gave it; *optargp (may be null) is its argument or null. ESPANK_ERROR: not given. */
spank_err_t spank_option_getopt(spank_t spank, struct spank_option* opt, char** optargp);

/* ---- words */
const char* spank_strerror(spank_err_t err);

#if defined(__GNUC__)
#define MUSTER_SPANK_PRINTF __attribute__((format(printf, 1, 2)))
#else
#define MUSTER_SPANK_PRINTF
#endif
/* To the user as it is. */
void slurm_spank_log(const char* format, ...) MUSTER_SPANK_PRINTF;
/* To the user or the log, at that level. */
void slurm_error(const char* format, ...) MUSTER_SPANK_PRINTF;
void slurm_info(const char* format, ...) MUSTER_SPANK_PRINTF;
void slurm_verbose(const char* format, ...) MUSTER_SPANK_PRINTF;
void slurm_debug(const char* format, ...) MUSTER_SPANK_PRINTF;
void slurm_debug2(const char* format, ...) MUSTER_SPANK_PRINTF;
void slurm_debug3(const char* format, ...) MUSTER_SPANK_PRINTF;

#ifdef __cplusplus
}
#endif

/* Once in each plugin. */
#define SPANK_PLUGIN(name, version)                            \
  MUSTER_SPANK_EXTERN const char plugin_name[];                \
  MUSTER_SPANK_EXTERN const char plugin_type[];                \
  MUSTER_SPANK_EXTERN const unsigned int plugin_version;       \
  MUSTER_SPANK_EXTERN const unsigned int spank_plugin_version; \
  const char plugin_name[] = #name;                            \
  const char plugin_type[] = "spank";                          \
  const unsigned int plugin_version = SLURM_VERSION_NUMBER;    \
  const unsigned int spank_plugin_version = (version);

#endif
