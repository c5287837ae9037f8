#conf preempt.conf
# Guide preempt: of jobs on 2, 4 and 8 nodes only the one of 8 makes room for one that wants 8.
submit two -N2 --exclusive -t60
submit four -N4 --exclusive -t60
submit eight -N8 --exclusive -t60
plan
submit urgent -p high -N8 --exclusive -t10
plan
plan
show queue
# Two CPUs: one small job of those on the cheapest node, nobody else.
free urgent
free two
free four
free eight
submit a -N1 -n2 -t60
submit b -N1 -n2 -t60
submit c -N13 --exclusive -p kept -t60
plan
submit small -p high -n2 -t10
plan
plan
show queue
