/* What container plugins do between the callbacks of a step: memory that user_init maps and all tasks of the node share, a
 * process that the first task starts, waits for until it stops, and that goes on when every task is ready, and a last word
 * when every task has ended. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <slurm/spank.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

SPANK_PLUGIN(shared, 1)

static struct {
  pthread_mutex_t lock;
  pid_t helper;
  int helpers;
  atomic_uint ready, ended;
} *all;
static uint32_t tasks;

static pid_t start_helper(void) {
  int status = 0;
  pid_t pid = fork();
  if (pid == 0) {
    raise(SIGSTOP);
    _exit(0);
  }
  return pid > 0 && waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) ? pid : -1;
}

int slurm_spank_init_post_opt(spank_t spank, int ac, char **av) {
  (void)ac;
  (void)av;
  return spank_context() == S_CTX_REMOTE ? (int)spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &tasks) : 0;
}

int slurm_spank_user_init(spank_t spank, int ac, char **av) {
  pthread_mutexattr_t attr;
  (void)spank;
  (void)ac;
  (void)av;
  all = mmap(0, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return -1;
  pthread_mutexattr_init(&attr);
  pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
  return pthread_mutex_init(&all->lock, &attr);
}

int slurm_spank_task_init(spank_t spank, int ac, char **av) {
  (void)spank;
  (void)ac;
  (void)av;
  pthread_mutex_lock(&all->lock);
  if (all->helpers == 0) {
    all->helpers++;
    all->helper = start_helper();
  }
  pthread_mutex_unlock(&all->lock);
  if (all->helper < 0) return -1;
  return atomic_fetch_add(&all->ready, 1) + 1 == tasks ? kill(all->helper, SIGCONT) : 0;
}

int slurm_spank_task_exit(spank_t spank, int ac, char **av) {
  (void)spank;
  (void)ac;
  (void)av;
  if (atomic_fetch_add(&all->ended, 1) + 1 == tasks)
    slurm_spank_log("shared: %u tasks ready, %u ended, %d helper", all->ready, all->ended, all->helpers);
  return 0;
}
