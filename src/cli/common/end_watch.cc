#include "cli/common/end_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace muster::cli {

EndWatch::EndWatch(const ClientConf& conf, JobId job) {
  if (::pipe2(pipe_, O_CLOEXEC) != 0) return;
  std::thread([conf, job, fd = pipe_[1]] {
    Session session(conf, Patience::kMessageTimeout);
    rpc::WaitJob wait;
    wait.job = job;
    wait.attends = conf.inactive_limit_seconds > 0;
    for (;;) {
      auto over = session.call(wait, net::kNoTimeout);
      if (over) break;
      if (!Session::is_connection_error(over.error())) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    [[maybe_unused]] const ssize_t n = ::write(fd, "x", 1);
  }).detach();
}

bool EndWatch::ended() const {
  pollfd p{pipe_[0], POLLIN, 0};
  return pipe_[0] >= 0 && ::poll(&p, 1, 0) == 1;
}

}  // namespace muster::cli
