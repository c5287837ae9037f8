#conf queue.conf
# all nodes of a job or none (checklist row 90)
submit hold -N1 --exclusive -w n2 -t 45
plan
submit gang -N4 --ntasks-per-node=4 -t 30
plan
show nodes
advance 45m
plan
