#conf gpu.conf
# GPUs counted for the job, its nodes, sockets and tasks are one amount; none is added to another
allocate nodes --gpus=8 --gpus-per-node=4
free nodes
allocate tasks --gpus-per-node=4 --gpus-per-task=2
free tasks
allocate spread --gpus-per-node=2 --gpus-per-task=1 -n4
free spread
allocate all --gpus=4 --gpus-per-node=2 --gpus-per-task=1
free all
allocate sockets --gpus=4 --gpus-per-socket=2 --sockets-per-node=2
free sockets
allocate memory --gpus-per-node=4 --gpus-per-task=2 --mem-per-gpu=1G --cpus-per-gpu=2
free memory
# what cannot all be true
allocate no --gpus=3 --gpus-per-node=2
allocate no --gpus=4 --gpus-per-node=2 -N1
allocate no --gpus=4 --gpus-per-task=2 -n3
allocate no --gpus-per-node=2 --gpus-per-task=1 --ntasks-per-node=4
allocate no --gpus-per-node=2 --gpus-per-socket=2 --sockets-per-node=2
# the type that one of them names holds for all
allocate no --gpus-per-node=4 --gpus-per-task=a100:1
allocate type1 --gpus=a100:4 --gpus-per-node=2
allocate type2 --gpus=a100:2 --gpus-per-task=1
free type2
allocate type3 --gpus-per-node=a100:2 --gpus-per-socket=1 --sockets-per-node=2
free type3
allocate no --gpus-per-node=a100:1,l4:1 --gpus-per-socket=1 --sockets-per-node=2
# several types
allocate no --gpus=a100:2,l4:2 --gpus-per-node=a100:1,l4:2
allocate no --gpus=a100:2,l4:2 --gpus-per-task=a100:1,l4:2
allocate type4 --gpus-per-node=2 --gpus-per-task=a100:1,l4:1 -n2
allocate type5 --gpus-per-node=4 --gpus-per-task=a100:1,l4:1 -n2
free type5
allocate type6 --gpus-per-node=a100:2,l4:2 --gpus-per-socket=a100:1,l4:1 --sockets-per-node=2
free type6
# --ntasks-per-node is a maximum beside --ntasks
allocate most1 --gpus-per-node=2 --gpus-per-task=1 --ntasks-per-node=4 -n2
free most1
allocate most2 --gpus-per-node=8 --gpus-per-task=1 -n16 --ntasks-per-node=16
free most2
# named nodes are all the job's
allocate no --gpus=4 --gpus-per-node=4 -w g1,g2
allocate no --gpus=4 --gpus-per-node=4 -w g1,g2 -N1-4
allocate choice --gpus=4 --gpus-per-node=4 -w g1,g2 -N1
free choice
# CPUs may be overcommitted, GPUs not
allocate no -O --gpus-per-node=2 --gpus-per-task=1 -n8 -N1
allocate over -O --gpus-per-node=8 --gpus-per-task=1 -n8 -N1
