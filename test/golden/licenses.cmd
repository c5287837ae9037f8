#conf licenses.conf
# licences of the cluster (sbatch --licenses): all with commas, one with bars
allocate a -L ansys:2 -t 30
allocate b -L ansys:2
allocate c -L fluent,ansys
allocate d -L 'fluent|ansys'
allocate none -L matlab
allocate toomany -L ansys:4
free c
allocate e -L 'fluent:2|ansys'
# the one that waits for a licence keeps nobody from the nodes; its place in time is kept
free e
submit big -L ansys:3 -t 20
plan
submit behind -t 30 -L ansys:1
submit free -N4 --exclusive -t 10
plan
run 3h
