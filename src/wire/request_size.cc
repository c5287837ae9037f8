#include "wire/messages.h"

namespace muster::wire {
namespace {

constexpr size_t kTexts = size_t{1} << 20;
constexpr size_t kArgumentsAndEnvironment = size_t{24} << 20;  // more than a process can have
constexpr size_t kBlock = size_t{9} << 20;                     // of sbcast, at most 8 MiB, and the rest of its message

RequestSize size_of(uint16_t number) {
  switch (number) {
#define MUSTER_MESSAGE(number, size, request, answer, part) \
  case number:                                              \
    return RequestSize::size;
#include "model/messages.def"
#undef MUSTER_MESSAGE
    default: return RequestSize::kTexts;
  }
}

}  // namespace

size_t largest_request(uint16_t number, size_t most_script) {
  switch (size_of(number)) {
    case RequestSize::kTexts: return kTexts;
    case RequestSize::kJob: return kArgumentsAndEnvironment + most_script;
    case RequestSize::kFile: return kBlock;
  }
  return kTexts;
}

}  // namespace muster::wire
