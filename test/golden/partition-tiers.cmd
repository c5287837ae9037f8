#conf parts.conf
# a higher PriorityTier goes first, whatever the order of submission
submit l -p low -N4 --exclusive
submit h -p high -n4
plan
