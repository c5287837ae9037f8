#conf partlimits.conf
# MaxCPUsPerNode: of all jobs of the partition together
submit a1 -p q1 -n1 -t60
submit a2 -p q1 -n1 -t120
submit a3 -p q1 -n1 -t60
submit b -p q2 -n6 -t60
plan
explain a3
free a2
plan
# MaxCPUsPerSocket
submit s1 -p socket -n2 -t60
submit s2 -p socket -n2 -t60
plan
