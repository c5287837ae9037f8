#conf labels.conf
# --exclusive=mcs: nobody on its nodes but jobs with the same label
allocate red -n1 --mcs-label=red --exclusive=mcs -w n1
allocate also-red -n1 --mcs-label=red -w n1 --uid=1002
allocate red-too -n1 --mcs-label=red --exclusive=mcs -w n1
allocate blue -n1 --mcs-label=blue -w n1
allocate plain -n1 -w n1
# a label alone keeps nobody away, and what is in use cannot be kept any more
allocate green -n1 --mcs-label=green -w n2
allocate plain2 -n1 -w n2
allocate late -n1 --mcs-label=green --exclusive=mcs -w n2
allocate nameless -n1 --exclusive=mcs
# who waits is told for whom the nodes are kept
submit blue3 -N3 -n3 --mcs-label=blue
plan
explain blue3
