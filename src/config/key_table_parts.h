// The parts the key tables are made of; only key_table*.cc includes it.
#pragma once

#include <span>

#include "config/key_table.h"

namespace muster::config {

std::span<const KeyRow> global_rows_a();
std::span<const KeyRow> global_rows_i();
std::span<const KeyRow> global_rows_r();
std::span<const KeyRow> node_rows();
std::span<const KeyRow> partition_rows();
std::span<const KeyRow> resource_file_rows();  // gres.conf, topology.conf, cgroup.conf
std::span<const KeyRow> side_file_rows();      // acct_gather, burst_buffer, helpers, job_container, mpi, oci
std::span<const KeyRow> slurmdbd_rows();

}  // namespace muster::config
