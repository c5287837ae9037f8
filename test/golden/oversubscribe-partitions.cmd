#conf forces.conf
# OverSubscribe: each partition counts its own jobs; those of another with the same PriorityTier do not count
submit a1 -p two -n4 -t60
submit a2 -p two -n4 -t60
submit a3 -p two -n4 -t60
submit b1 -p three -n4 -t60
submit b2 -p three -n4 -t60
submit b3 -p three -n4 -t60
submit b4 -p three -n4 -t60
plan
advance 01:00:00
plan
# FORCE:1 shares with other partitions of the tier, not with those of another
submit h -p high -n4 -t30
plan
submit l1 -p low -n4 -t60
plan
advance 00:30:00
plan
submit s1 -p same -n4 -t60
submit s2 -p same -n4 -t60
plan
