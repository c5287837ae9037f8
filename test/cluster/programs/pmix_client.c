/* The PMIx API itself. pmix_client MODE:
     fence    each process puts a value and reads all others' after a fence that collects
     direct   the same, but the fence collects nothing: values are asked of the other nodes
     group    even and odd ranks each fence among themselves
     big      as fence, with 256 KiB a process
     job      what the job's keys say
     refused  services that are not there
     late     rank 0 ends without PMIx_Finalize, its connection held by a child; the others say on stdout as which
              process they wait for SIGUSR1 before PMIx_Init
     wait N   all meet; then all but rank N enter a fence, and rank N says on stdout as which process it
              waits for SIGUSR1 before it does */
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;

static void must(const char* what, pmix_status_t rc) {
  if (rc == PMIX_SUCCESS) return;
  fprintf(stderr, "rank %u: %s: %s\n", me.rank, what, PMIx_Error_string(rc));
  exit(3);
}

static pmix_value_t* get(pmix_rank_t rank, const char* key) {
  pmix_proc_t p;
  pmix_value_t* v = NULL;
  PMIX_LOAD_PROCID(&p, me.nspace, rank);
  must(key, PMIx_Get(&p, key, NULL, 0, &v));
  return v;
}

static void put(size_t padding) {
  pmix_value_t v;
  char* text = calloc(1, padding + 64);
  snprintf(text, 64, "from %u;", me.rank);
  memset(text + strlen(text), 'x', padding);
  v.type = PMIX_STRING;
  v.data.string = text;
  must("PMIx_Put", PMIx_Put(PMIX_GLOBAL, "muster.value", &v));
  must("PMIx_Commit", PMIx_Commit());
}

static pmix_status_t fence(pmix_proc_t* procs, size_t count, int collect) {
  pmix_info_t info;
  bool yes = true;
  PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
  return PMIx_Fence(procs, count, collect ? &info : NULL, collect ? 1 : 0);
}

static void read_all(uint32_t size, size_t padding) {
  uint32_t right = 0;
  for (uint32_t r = 0; r < size; ++r) {
    char want[64];
    const char* is = get(r, "muster.value")->data.string;
    snprintf(want, sizeof want, "from %u;", r);
    right += !strncmp(is, want, strlen(want)) && strlen(is) == strlen(want) + padding;
  }
  printf("rank %u read %u of %u\n", me.rank, right, size);
}

static void wait_for_signal(const char* rank) {
  sigset_t usr1;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  sigprocmask(SIG_BLOCK, &usr1, NULL);
  printf("rank %s waits as %d\n", rank, (int)getpid());
  fflush(stdout);
  sigwaitinfo(&usr1, NULL);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "fence";
  if (!strcmp(mode, "late") && strcmp(getenv("PMIX_RANK"), "0")) wait_for_signal(getenv("PMIX_RANK"));
  must("PMIx_Init", PMIx_Init(&me, NULL, 0));
  uint32_t size = get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE)->data.uint32;
  if (!strcmp(mode, "fence") || !strcmp(mode, "direct") || !strcmp(mode, "big")) {
    size_t padding = !strcmp(mode, "big") ? 256 << 10 : 0;
    put(padding);
    must("PMIx_Fence", fence(NULL, 0, strcmp(mode, "direct")));
    read_all(size, padding);
    must("PMIx_Fence", fence(NULL, 0, 0));   /* nobody leaves while others ask */
  } else if (!strcmp(mode, "group")) {
    pmix_proc_t half[64];
    uint32_t count = 0, right = 0;
    put(0);
    for (uint32_t r = me.rank % 2; r < size && count < 64; r += 2, ++count) PMIX_LOAD_PROCID(&half[count], me.nspace, r);
    for (int i = 0; i < 3; ++i) must("PMIx_Fence", fence(half, count, 1));
    for (uint32_t r = me.rank % 2; r < size; r += 2) right += !strncmp(get(r, "muster.value")->data.string, "from ", 5);
    printf("rank %u read %u of %u\n", me.rank, right, count);
    must("PMIx_Fence", fence(NULL, 0, 0));
  } else if (!strcmp(mode, "job")) {
    printf("rank %u size %u universe %u nodes %u local %u peers %s app %u node %u on %s localrank %u\n", me.rank, size,
           get(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE)->data.uint32, get(PMIX_RANK_WILDCARD, PMIX_NUM_NODES)->data.uint32,
           get(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE)->data.uint32, get(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS)->data.string,
           get(me.rank, PMIX_APPNUM)->data.uint32, get(me.rank, PMIX_NODEID)->data.uint32,
           get(me.rank, PMIX_HOSTNAME)->data.string, get(me.rank, PMIX_LOCAL_RANK)->data.uint16);
    printf("space %s dir %s\n", me.nspace, get(PMIX_RANK_WILDCARD, PMIX_TMPDIR)->data.string);
  } else if (!strcmp(mode, "refused")) {
    pmix_info_t info;
    pmix_pdata_t wanted;
    pmix_app_t app;
    char child[PMIX_MAX_NSLEN + 1];
    PMIX_INFO_LOAD(&info, "muster.published", "x", PMIX_STRING);
    PMIX_PDATA_CONSTRUCT(&wanted);
    PMIX_LOAD_KEY(wanted.key, "muster.published");
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup("/bin/true");
    app.maxprocs = 1;
    printf("publish %s\n", PMIx_Error_string(PMIx_Publish(&info, 1)));
    printf("lookup %s\n", PMIx_Error_string(PMIx_Lookup(&wanted, 1, NULL, 0)));
    printf("spawn %s\n", PMIx_Error_string(PMIx_Spawn(NULL, 0, &app, 1, child)));
  } else if (!strcmp(mode, "late")) {
    if (me.rank == 0) {
      if (fork() == 0)
        for (;;) pause();
      _exit(0);
    }
    printf("rank %u of %u\n", me.rank, size);
  } else if (!strcmp(mode, "wait") && argc > 2) {
    must("PMIx_Fence", fence(NULL, 0, 0));
    if (me.rank == (uint32_t)atoi(argv[2])) wait_for_signal(argv[2]);
    printf("rank %u: %s\n", me.rank, PMIx_Error_string(fence(NULL, 0, 0)));
    fflush(stdout);
  }
  must("PMIx_Finalize", PMIx_Finalize(NULL, 0));
  return 0;
}
