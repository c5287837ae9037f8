#conf queue.conf
# without a limit as many tasks as fit
submit arr -n4 -t 20 --array=1-9:2
plan
submit big -n16 -t 20
plan
