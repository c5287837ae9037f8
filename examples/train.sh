#!/bin/bash
#SBATCH --job-name=digits-ddp
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8          # what the job asks for; train.py uses them where they are real
#SBATCH --time=00:10:00
#SBATCH --output=train_%j.log
#SBATCH --requeue
# Four nodes, one launcher per node, gradients averaged over all of them after every step.
# Submit it from the folder that holds train.py:  sbatch train.sh
set -eu

[ -e train.py ] || { echo "train.py is not in $PWD: submit this script from the folder that holds it" >&2; exit 1; }

# The first node of the job is where the workers meet.
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n1)
# On a cluster the name of a node resolves. The nodes that `muster up` makes are names for this one machine: they have
# no entry in DNS, so meet on the loopback address instead.
getent hosts "$MASTER_ADDR" >/dev/null || MASTER_ADDR=127.0.0.1
export MASTER_ADDR
# A port of this job's own, so that two trainings on one machine do not meet each other.
export MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000))
export OMP_NUM_THREADS=1

echo "job $SLURM_JOB_ID on $SLURM_JOB_NODELIST, meeting at $MASTER_ADDR:$MASTER_PORT"
srun torchrun --nnodes="$SLURM_NNODES" --nproc_per_node=1 --rdzv_id="$SLURM_JOB_ID" \
  --rdzv_backend=c10d --rdzv_endpoint="$MASTER_ADDR:$MASTER_PORT" train.py "$@"
