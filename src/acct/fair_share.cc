#include "acct/fair_share.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "base/check.h"
#include "model/accounts.h"
#include "model/usage.h"

namespace muster::acct {
namespace {

// Where a node stands once Fairshare=parent is resolved, and the sums over the tree.
struct Place {
  uint32_t depth = 0;
  uint32_t judged_as = 0;      // itself; with Fairshare=parent the first above it that has shares of its own
  uint32_t above = kNoParent;  // among whose children it is compared
  double used = 0;             // by itself and all below it
  double shares_below = 0;     // of those that are compared among its children
};

struct Tree {
  const std::vector<ShareNode>& nodes;
  std::vector<Place> places;
  std::vector<uint32_t> order;  // parents before children, those of one depth by association: sums come out the same for any input order
  double used = 0;

  bool own_shares(uint32_t i) const { return places[i].judged_as == i; }
  bool is_root(uint32_t i) const { return nodes[i].parent == kNoParent; }
};

Place place_of(const Tree& tree, uint32_t index) {
  const ShareNode& node = tree.nodes[index];
  Place out;
  out.judged_as = index;
  if (node.parent == kNoParent) return out;
  MUSTER_CHECK(node.parent < index);
  const Place& parent = tree.places[node.parent];
  out.depth = parent.depth + 1;
  out.above = parent.judged_as;
  if (node.shares != kSharesOfParent) return out;
  out.judged_as = parent.judged_as;
  out.above = tree.places[out.judged_as].above;
  return out;
}

void sum_up(Tree& tree) {
  for (uint32_t i : tree.order) {
    Place& place = tree.places[i];
    const double usage = tree.nodes[i].usage;
    place.used = usage > 0 ? std::min(usage, kMostUsage) : 0;
    if (tree.own_shares(i) && !tree.is_root(i)) tree.places[place.above].shares_below += static_cast<double>(tree.nodes[i].shares);
  }
  for (size_t k = tree.order.size(); k-- > 0;) {
    const uint32_t i = tree.order[k];
    (tree.is_root(i) ? tree.used : tree.places[tree.nodes[i].parent].used) += tree.places[i].used;
  }
}

Tree resolved(const std::vector<ShareNode>& nodes) {
  Tree tree{nodes, {}, std::vector<uint32_t>(nodes.size()), 0};
  tree.places.reserve(nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i) tree.places.push_back(place_of(tree, i));
  std::iota(tree.order.begin(), tree.order.end(), 0u);
  std::ranges::sort(tree.order, {}, [&](uint32_t i) { return std::pair(tree.places[i].depth, nodes[i].association); });
  sum_up(tree);
  return tree;
}

double part_of(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Its part of the shares, and of the usage, of its level. The root has a level of its own.
double level_shares(const Tree& tree, uint32_t i) {
  return tree.is_root(i) ? 1 : part_of(static_cast<double>(tree.nodes[i].shares), tree.places[tree.places[i].above].shares_below);
}
double level_usage(const Tree& tree, uint32_t i) {
  return part_of(tree.places[i].used, tree.is_root(i) ? tree.used : tree.places[tree.places[i].above].used);
}

std::vector<ShareView> with_usage(const Tree& tree) {
  std::vector<ShareView> views(tree.nodes.size());
  for (uint32_t i = 0; i < views.size(); ++i) {
    views[i].raw_usage = tree.places[i].used;
    views[i].norm_usage = part_of(tree.places[i].used, tree.used);
  }
  return views;
}

// What is equal by the formula may differ in the last digits once it is computed, and would not tie. So 32 bits are kept: who differs by
// less than one part in four billion ties. That is a monotone step, so nobody changes places by it.
double rounded(double positive) {
  constexpr uint64_t kDropped = (uint64_t{1} << 20) - 1;
  return std::bit_cast<double>((std::bit_cast<uint64_t>(positive) + kDropped / 2 + 1) & ~kDropped);
}

double level_fs(double shares, double usage) {
  if (shares <= 0) return 0;
  return usage > 0 ? rounded(shares / usage) : std::numeric_limits<double>::infinity();
}

void judge_levels(const Tree& tree, std::vector<ShareView>& views) {
  for (uint32_t i : tree.order) {
    ShareView& view = views[i];
    const ShareView& as = views[tree.places[i].judged_as];  // above it, so already judged
    view.norm_shares = tree.own_shares(i) ? level_shares(tree, i) : as.norm_shares;
    view.effective_usage = tree.own_shares(i) ? level_usage(tree, i) : as.effective_usage;
    view.level_fs = tree.own_shares(i) ? level_fs(view.norm_shares, view.effective_usage) : as.level_fs;
  }
}

// Who is compared among the children of each account: the accounts with shares of their own, and all users.
class Children {
 public:
  explicit Children(const Tree& tree) : first_(tree.nodes.size() + 2) {
    auto compared = [&](uint32_t i) { return tree.nodes[i].user || tree.own_shares(i); };
    for (uint32_t i : tree.order)
      if (compared(i)) ++first_[slot(tree.places[i].above) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    members_.resize(first_.back());
    std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
    for (uint32_t i : tree.order)
      if (compared(i)) members_[next[slot(tree.places[i].above)]++] = i;
  }
  // Of kNoParent: the root, and the users that are judged as it.
  std::span<const uint32_t> of(uint32_t account) const {
    const size_t s = slot(account);
    return std::span(members_).subspan(first_[s], first_[s + 1] - first_[s]);
  }

 private:
  size_t slot(uint32_t account) const { return account == kNoParent ? first_.size() - 2 : account; }
  std::vector<uint32_t> first_, members_;
};

// The traversal of the guide: best first, depth first. Not recursive, since nothing bounds how deep accounts are nested.
class Ranking {
 public:
  Ranking(const Tree& tree, std::vector<ShareView>& views) : tree_(tree), views_(views), children_(tree) {
    for (const ShareNode& node : tree.nodes) users_ += node.user;
  }
  void rank_all() {
    const auto top = children_.of(kNoParent);
    descend({top.begin(), top.end()}, users_);
    while (!levels_.empty()) next_group();
    for (ShareView& view : views_) view.factor = part_of(view.rank, users_);
  }

 private:
  // The children of one account, or of several that tie.
  struct Level {
    std::vector<uint32_t> members;  // the best first
    size_t next = 0;
    uint32_t ranked = 0;  // how many users had a rank when it was opened
    uint32_t rank = 0;    // of its first users: that of users beside the account, if they tie with it
  };

  void descend(std::vector<uint32_t> members, uint32_t rank) {
    std::ranges::sort(members, std::greater{}, [&](uint32_t i) { return views_[i].level_fs; });
    levels_.push_back({std::move(members), 0, ranked_, rank});
  }

  // Those of the level that tie with its next one: their users have one rank, their accounts' children are one level.
  void next_group() {
    Level& level = levels_.back();
    if (level.next == level.members.size()) return levels_.pop_back();
    const uint32_t rank = ranked_ == level.ranked ? level.rank : users_ - ranked_;
    const double fs = views_[level.members[level.next]].level_fs;
    std::vector<uint32_t> below;
    do {
      const uint32_t i = level.members[level.next++];
      if (tree_.nodes[i].user) {
        views_[i].rank = rank;
        ++ranked_;
      } else {
        const auto children = children_.of(i);
        below.insert(below.end(), children.begin(), children.end());
      }
    } while (level.next < level.members.size() && views_[level.members[level.next]].level_fs == fs);
    if (!below.empty()) descend(std::move(below), rank);
  }

  const Tree& tree_;
  std::vector<ShareView>& views_;
  Children children_;
  std::vector<Level> levels_;
  uint32_t users_ = 0, ranked_ = 0;
};

// R of the depth-oblivious guide, from that of the account above and the usage ratio among the siblings.
double usage_ratio(double above, double local) {
  constexpr double kMost = 1e100;          // its factor is 0 long before; it keeps products finite
  if (above <= 0 || local <= 0) return 0;  // nothing was used
  const double a = std::log(above), l = std::log(local);
  const double k = a * l >= 0 ? 1 : 1 / (1 + 25 * a * a);
  return std::min(above * std::pow(local, k), kMost);
}

// What of the usage is held against the shares of node `i`; `above` is the account it is compared in.
double classic_usage(const Tree& tree, uint32_t i, const ShareView& view, const ShareView& above, const FairShareRule& rule) {
  const double shares = level_shares(tree, i);
  if (rule.depth_oblivious) {
    const double ratio = usage_ratio(part_of(above.effective_usage, above.norm_shares), part_of(level_usage(tree, i), shares));
    return ratio * view.norm_shares;
  }
  if (tree.is_root(tree.places[i].above)) return view.norm_usage;
  return view.norm_usage + (above.effective_usage - view.norm_usage) * shares;
}

void judge_classic(const Tree& tree, const FairShareRule& rule, std::vector<ShareView>& views) {
  const double dampening = rule.dampening > 0 && std::isfinite(rule.dampening) ? rule.dampening : 1;
  for (uint32_t index : tree.order) {
    ShareView& view = views[index];
    if (!tree.own_shares(index)) {
      const ShareView& as = views[tree.places[index].judged_as];
      view.norm_shares = as.norm_shares;
      view.effective_usage = as.effective_usage;
      view.factor = as.factor;
      continue;
    }
    if (tree.is_root(index)) {
      view.norm_shares = 1;
      view.effective_usage = view.norm_usage;
    } else {
      const ShareView& above = views[tree.places[index].above];
      view.norm_shares = above.norm_shares * level_shares(tree, index);
      view.effective_usage = classic_usage(tree, index, view, above, rule);
    }
    view.factor = view.norm_shares > 0 ? std::exp2(-(view.effective_usage / view.norm_shares) / dampening) : 0;
  }
}

}  // namespace

std::vector<ShareView> fair_shares(const std::vector<ShareNode>& nodes, const FairShareRule& rule) {
  const Tree tree = resolved(nodes);
  std::vector<ShareView> views = with_usage(tree);
  if (rule.kind == FairShareKind::kClassic || rule.depth_oblivious) {
    judge_classic(tree, rule, views);
  } else {
    judge_levels(tree, views);
    Ranking(tree, views).rank_all();
  }
  return views;
}

}  // namespace muster::acct
