#conf queue.conf
# --begin and --dependency
submit first -n1 -t 30
submit late -n1 -t 30 --begin=now+1hour
submit after -n1 -t 30 --dependency=afterok:1
submit never -n1 --dependency=afternotok:1
plan
run 2h
plan
show queue
submit wrong -n1 --dependency=afterok:99
