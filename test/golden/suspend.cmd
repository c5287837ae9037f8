#conf suspend.conf
# Guide preempt, "A Simple Example": five jobs, one of three nodes comes to hipri; three are suspended until it is over.
submit 485 -N1 -t300
submit 486 -N1 -t300
submit 487 -N1 -t300
submit 488 -N1 -t300
submit 489 -N1 -t300
plan
advance 27
submit 490 -p hipri -N3 -t30
plan
show queue
advance 30
show queue
