#include "options/manual_texts.h"

#include "options/man_page.h"

namespace muster {
namespace {

constexpr ManualText kTexts[] = {
    {Command::kSbatch, "submit a batch script",
     "sbatch hands a script to the controller and prints the number of the job. The script is kept by the controller: it may "
     "be changed or removed at once. It runs later, on the first node of the job, as the user who submitted it, in the "
     "directory where sbatch was called.\n\n"
     "Options may stand in the script, on lines that begin with #SBATCH, before the first command. An option on the command "
     "line wins over its environment variable, which wins over the script. \"muster lint SCRIPT\" says what is wrong or "
     "odd about a script before it waits in the queue.\n\n"
     "Without a script it is read from standard input; with --wrap a command line takes its place. The job id is printed only "
     "once the submission is on disk."},
    {Command::kSrun, "run tasks on the nodes of a job",
     "srun starts a command as the tasks of a job step, on the nodes of the job it is called in; outside of a job it asks for "
     "an allocation first and gives it back at the end. Output, input and signals pass between the tasks and the terminal.\n\n"
     "The exit code is the highest of the tasks; 128 and the number of the signal where a signal ended one."},
    {Command::kSalloc, "get an allocation and run a command in it",
     "salloc asks for nodes, waits until it has them, runs a command (a shell, where none is named) and gives the nodes back "
     "when the command ends. The command runs where salloc was called; srun in it starts tasks on the nodes."},
    {Command::kSqueue, "show the jobs in the queue",
     "squeue lists jobs that wait, run or have just ended, and with --steps their steps. What is printed, and in which order, "
     "is up to --format, --Format and --sort; --json and --yaml print everything for programs.\n\n"
     "The reason in the last column says in a word why a job waits; \"muster explain JOB\" says it in full."},
    {Command::kSinfo, "show partitions and nodes",
     "sinfo lists partitions with their nodes by state; with --Node a line for each node. What is printed is up to --format and "
     "--Format; --json and --yaml print everything for programs.\n\n"
     "\"muster explain NODE\" says what is the matter with a node and what runs there."},
    {Command::kScancel, "cancel jobs or send them a signal",
     "scancel ends jobs, array tasks or steps, by number or by what they have in common (--user, --state, --partition and others). With "
     "--signal they get that signal instead."},
    {Command::kScontrol, "look at and change jobs, nodes, partitions and the configuration",
     "scontrol takes a command and its words; without them it asks for commands at a prompt. Everybody may look; most changes "
     "are for root and SlurmUser, those of one's own jobs for their user.\n\n"
     "scontrol help lists the commands."},
    {Command::kSattach, "attach to a running job step",
     "sattach connects standard input, output and error of a running step to the terminal."},
    {Command::kSbcast, "copy a file to the nodes of a job",
     "sbcast copies a file to every node of the job it is called in, along a tree of nodes."},
    {Command::kSacct, "show accounting data of jobs",
     "sacct shows what the accounting database (slurmdbd) recorded of jobs and their steps, also long after their end. A user "
     "sees the own jobs unless told otherwise, root everybody's. What is printed is up to --format.\n\n"
     "Which jobs: those that could run, ran or ended between --starttime and --endtime. Without these: since midnight; with "
     "--jobs ever; with --state at this moment. A --starttime with --state and without --endtime asks for that moment, but for "
     "states of ended jobs for everything since then, where Slurm would show what ended within that second."},
    {Command::kSacctmgr, "look at and change accounts, users and limits",
     "sacctmgr takes a command and its words; without them it asks for commands at a prompt: add, modify, delete and show of "
     "accounts, users, associations, QOS, clusters and coordinators in the accounting database (slurmdbd). What would be done "
     "is shown, and a person is asked whether to do it, for 30 seconds; --immediate does it at once.\n\n"
     "sacctmgr dump writes the accounts, users, QOS and limits of a cluster to a file; sacctmgr load makes the database say what such "
     "a file says, whole or not at all, and removes nothing unless it is told to clean.\n\n"
     "sacctmgr archive dump purges records that are older than their age, into files of slurmdbd's host; sacctmgr archive load brings "
     "them back.\n\n"
     "sacctmgr help lists the commands."},
    {Command::kSreport, "usage of accounts, users and clusters",
     "sreport makes reports of what the accounting database (slurmdbd) has rolled up by hour, day and month: a kind of report, its name, "
     "and words such as start=2026-11-01 or account=team-a. Without words it asks for them at a prompt. Reports are of whole hours; the "
     "default is yesterday.\n\n"
     "sreport help lists the reports."},
    {Command::kSwait, "wait for the steps of a job",
     "swait returns when the job has no step that runs and none that waits for the job's resources (srun --async). Without an "
     "argument it is the job it is called in: at the end of a batch script it waits for the steps that the script started.\n\n"
     "The exit code is 0 then, 1 when --timeout passed first, and 2 after an error."},
    {Command::kSshare, "show shares and usage of accounts and users",
     "sshare shows the tree of accounts with what each was promised (shares), what it used, and the factor that follows for the "
     "priority of jobs (PriorityWeightFairshare). Below each account stand its users, of whom you see yourself; --all shows "
     "everybody. Usage fades as PriorityDecayHalfLife says. It needs priority/multifactor and an accounting database.\n\n"
     "With the fair tree (the default, unless PriorityFlags has NO_FAIR_TREE) NormShares and EffectvUsage are parts of what the "
     "siblings have together; LevelFS is the one divided by the other, so more than 1 means under-served, and inf that nothing was "
     "used. FairShare is then a rank, which only users have."},
    {Command::kSprio, "show what the priorities of pending jobs are made of",
     "sprio has a line for each pending job and each partition it may run in: its priority, and the factors that it is the sum of, "
     "each times its weight (PriorityWeightAge and others in slurm.conf). Without --format, factors that have no weight are left "
     "out. --norm shows the factors before they are weighted, --weights the weights. It needs priority/multifactor."},
    {Command::kSstat, "show what running steps use",
     "sstat asks the nodes of a running step what its tasks use at this moment: CPU time, memory, page faults, reads and writes, with the "
     "average, the most and the least of its tasks, and which task on which node that was. Average and total memory are those of this "
     "moment, the most is the highest that was seen. It needs JobAcctGatherType. A user sees the steps of the own jobs, root "
     "everybody's.\n\n"
     "sacct shows the same of steps that have ended."},
    {Command::kSh5util, "make one HDF5 file of a job's profiles, and read it",
     "sbatch --profile has slurmstepd of each node record time series of each step, in a file below ProfileHDF5Dir. sh5util -j JOB makes "
     "one "
     "HDF5 file of them, ./job_JOB.h5, which h5ls, h5dump, HDFView and h5py read, and takes the recordings away, unless --savefiles is "
     "given. It can be part of the job, as its last command or a job that depends on it, or be run later by the user or by root.\n\n"
     "In the file each step has a group, Steps/0, in it each node, Steps/0/Nodes/n1, and there a table for each task, Tasks/0, with a row "
     "for each sample: ElapsedTime and EpochTime (s), CPUFrequency (kHz, 0 where the machine does not say), CPUTime (s since the row "
     "before), CPUUtilization (percent of one CPU), RSS and VMSize (KiB), Pages, ReadMB and WriteMB (since the row before); where GPUs are "
     "accounted also GPUMemMB and GPUUtilization (percent). A node whose energy was sampled has a table Energy: Power (W) and "
     "CPUFrequency.\n\n"
     "--extract writes tables of the file as comma separated values, --item-extract one column of them with the least, the most, the sum "
     "and the average at each sample, --list names the columns there are.\n\n"
     "The exit code is 0 when it did what it was told, also where there was nothing to merge; 1 after an error, 255 after a wrong option "
     "or where a folder cannot be read, 237 when the file has no such series or item."},
    {Command::kScrontab, "jobs that recur, as cron has them",
     "scrontab installs, edits, lists and removes a user's crontab of batch jobs. It needs ScronParameters=enable.\n\n"
     "A line is blank, a comment, NAME=VALUE, or an entry: when (minute, hour, day of month, month, day of week, or @hourly, @daily, "
     "@weekly, @monthly, @yearly, @elevenses, @fika, @teatime) and a command for the shell. $NAME in a command is replaced by the VALUE "
     "that "
     "a line above it gives. Lines that begin with #SCRON have options of sbatch for the next entry.\n\n"
     "Each entry is one job with one number. It is queued for its next time, and again for the one after that when its run is over: "
     "runs do not overlap, and times that pass meanwhile are left out. Times are those of the controller's zone; a time of day that is "
     "left out when clocks are put forward is due right after, one that comes twice is due once. A job runs with the user's login "
     "environment, in the home directory. When a job is cancelled its lines are commented out with #DISABLED; scontrol requeue "
     "leaves out its next run.\n\n"
     "With -e the editor is $VISUAL, $EDITOR, or vi. A crontab with a mistake is refused as a whole, and the one before stays."},
    {Command::kStrigger, "run a program when something happens",
     "strigger sets, shows and clears triggers: programs that slurmctld runs on its host, as the user who set them, when a job "
     "ends, a node goes down, slurmdbd is away. The program is told the job's number, or the names of the nodes. Each trigger runs once, "
     "unless --flags=PERM makes it permanent. Where slurmctld does not run as root, only SlurmUser may set triggers.\n\n"
     "A program runs with an environment of its own, in /, its output is thrown away, and after five minutes it is killed."},
};

}  // namespace

const ManualText& manual_text(Command c) {
  for (const ManualText& t : kTexts)
    if (t.command == c) return t;
  return kTexts[0];  // every command has a row: query_test.cc
}

std::string man_page(const ManualText& t) { return man_page(t.command, t.summary, t.description); }

}  // namespace muster
