complete -c muster -n __fish_use_subcommand -x -a explain -d 'why a job waits or ended; what is the matter with a node'
complete -c muster -n __fish_use_subcommand -x -a lint -d 'what is wrong or odd about a batch script'
complete -c muster -n __fish_use_subcommand -x -a check-config -d 'what is wrong with slurm.conf and the files beside it'
complete -c muster -n __fish_use_subcommand -x -a up -d 'make a cluster on this machine'
complete -c muster -n __fish_use_subcommand -x -a status -d 'whether it is up'
complete -c muster -n __fish_use_subcommand -x -a logs -d 'the last lines of its daemons'
complete -c muster -n __fish_use_subcommand -x -a down -d 'end it'
complete -c muster -n __fish_use_subcommand -x -a help -d 'list the commands'
complete -c muster -n '__fish_seen_subcommand_from explain lint check-config' -l json -d 'for programs'
complete -c muster -n '__fish_seen_subcommand_from lint' -l offline -d 'do not ask the cluster'
complete -c muster -n '__fish_seen_subcommand_from up' -l nodes -x -d 'nodes'
complete -c muster -n '__fish_seen_subcommand_from up' -l gpus-per-node -x -d 'GPUs of a node'
complete -c muster -n '__fish_seen_subcommand_from up' -l gpu-type -x -d 'their type'
complete -c muster -n '__fish_seen_subcommand_from up' -l cpus -x -d 'CPUs of a node'
complete -c muster -n '__fish_seen_subcommand_from up' -l memory -x -d 'memory of a node'
complete -c muster -n '__fish_seen_subcommand_from up' -l no-accounting -d 'without slurmdbd'
complete -c muster -n '__fish_seen_subcommand_from up status logs down' -l state -r -d 'where it lives'
complete -c muster -n __fish_use_subcommand -x -a report -d 'GPU-hours, and what jobs used of what they held'
complete -c muster -n '__fish_seen_subcommand_from report' -x -a 'gpu-hours efficiency'
complete -c muster -n '__fish_seen_subcommand_from report' -l by -x -a 'account user partition qos job'
complete -c muster -n '__fish_seen_subcommand_from report' -l month -x
complete -c muster -n '__fish_seen_subcommand_from report' -l start -l end -x
complete -c muster -n '__fish_seen_subcommand_from report' -l csv -l json -l svg -l html
complete -c muster -n __fish_use_subcommand -x -a token -d 'let hosts join without the cluster key'
complete -c muster -n '__fish_seen_subcommand_from token' -x -a 'create list revoke'
complete -c muster -n '__fish_seen_subcommand_from token' -l nodes -l logins -l expires -l uses -l node -l login -x
complete -c muster -n __fish_use_subcommand -x -a maintenance -d 'drain nodes, reboot them and return them to service'
complete -c muster -n '__fish_seen_subcommand_from maintenance' -x -a 'start show pause continue cancel'
complete -c muster -n '__fish_seen_subcommand_from maintenance' -l nodes -l at-once -l run -l stop-after -l reason -x
complete -c muster -n '__fish_seen_subcommand_from maintenance' -l reboot -l json
complete -c muster -n __fish_use_subcommand -x -a topology -d 'blocks as the NVLink fabrics of nodes have them'
complete -c muster -n '__fish_seen_subcommand_from topology' -l check -l conf -l json
