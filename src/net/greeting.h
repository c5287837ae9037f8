// Greeting: carries a Handshake over a non-blocking socket until the peer is proved or turned away. Internal to net/.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/handshake.h"

namespace muster::net {

class Greeting : public std::enable_shared_from_this<Greeting> {
 public:
  using Done = std::function<void(Result<Established>)>;
  // Chooses what to do with an accepted connection that opens like this: a handshake, or an error. If it takes `fd` (and returns
  // nullptr), the greeting ends without calling `done`.
  using Choose = std::function<Result<std::unique_ptr<Handshake>>(Opening, UniqueFd& fd, std::string& first_bytes)>;

  // `done` is called at most once, never from inside client() or server().
  static std::shared_ptr<Greeting> client(Loop& loop, UniqueFd fd, Peer peer, std::unique_ptr<Handshake> h, Done done);
  static std::shared_ptr<Greeting> server(Loop& loop, UniqueFd fd, Peer peer, Choose choose, Done done);
  // Ends the greeting with this error because its time is over.
  void abandon(Error error);
  const Peer& peer() const { return e_.peer; }

 private:
  Greeting(Loop& loop, UniqueFd fd, Peer peer, Done done);
  void start();
  void readable();
  void receive(std::string_view bytes);
  void open(std::string_view bytes);
  bool send_pending();
  void finish(Result<bool> outcome);

  Loop& loop_;
  Established e_;
  Done done_;
  Choose choose_;
  std::unique_ptr<Handshake> handshake_;
  std::unique_ptr<Loop::Watch> watch_;
  std::string opening_;  // first bytes, until they say what it is
  std::string out_;
};

}  // namespace muster::net
