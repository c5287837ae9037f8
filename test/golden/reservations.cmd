#conf queue.conf
# Jobs end before a reservation begins, or start behind its end; those inside wait for it. Guide reservations.
reserve ReservationName=course StartTime=now+30minutes Duration=60 Users=alan Nodes=n[1-2]
reserve StartTime=now+40minutes Duration=60 Users=alan Nodes=n1
reserve ReservationName=cores StartTime=now+30minutes Duration=60 Users=alan Nodes=n3 CoreCnt=2
submit short -w n1 -t 30
submit long -w n1 -t 31
submit wide -N4 --exclusive -t 60
submit inside --uid=0 --reservation=course -N2 --exclusive -t 20
submit beyond --uid=0 --reservation=course -N3 -t 20
submit beside -w n3 -n3 -t 60
submit fits -w n3 -n2 -t 60
submit nobody --reservation=course -t 5
submit nothing --reservation=nope -t 5
plan
run 2h
show queue
