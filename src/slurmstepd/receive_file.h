// `slurmstepd receive …`: writes one file that sbcast sends, as the user it runs as. slurmd starts it and gives it the bytes on descriptor
// 0; so nothing in a user's file system can block slurmd or be reached with its rights.
//
// The file grows under a name of its own beside its place and is moved there when it is whole: nobody ever sees half a file. If the bytes
// end early, nothing is left behind. Started by root for root, it follows no symbolic link. sbcast(1).
#pragma once

namespace muster::slurmstepd {

// Arguments: path, size, mode (octal), transfer id, flags ("f" replace an existing file, "d" make the directory, "-" none), access and
// change time (-1: now). Returns 0, or 1 with a line on stderr.
int receive_file(int argc, char** argv);

}  // namespace muster::slurmstepd
