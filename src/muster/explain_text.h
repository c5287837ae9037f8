// Explanations as text for people and as a tree for programs. Pure: time zones and user names come in.
#pragma once

#include <functional>
#include <string>

#include "fields/tree_sink.h"
#include "model/explanation.h"

namespace muster::front {

using UserNames = std::function<std::string(Uid)>;

// Long lists are cut with "and N more". Lines end in '\n'.
std::string to_text(const JobExplanation& e, const UserNames& users);
std::string to_text(const NodeExplanation& explanation, const UserNames& users);
void to_tree(const JobExplanation& explanation, fields::TreeSink& sink);
void to_tree(const NodeExplanation& explanation, const UserNames& users, fields::TreeSink& sink);

// What a reason means, in a sentence; "" for one that has none yet.
std::string_view sentence_of(Reason reason);

}  // namespace muster::front
