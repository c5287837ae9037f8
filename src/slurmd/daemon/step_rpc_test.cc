// The messages of steps come back from the wire as they were, and cut ones do no harm.
#include "model/step_rpc.h"

#include <gtest/gtest.h>

#include "wire/instances.h"
#include "wire/sample_test.h"

namespace muster::wire {
namespace {

template <class T>
class StepMessage : public testing::Test {};
using Messages =
    testing::Types<rpc::StepCredential, rpc::StepIo, rpc::LaunchStep, rpc::StepLaunched, rpc::SignalStepTasks, rpc::RelayToNode,
                   rpc::AttachTasks, rpc::SendFile, rpc::FileSent, rpc::AdoptProcess, rpc::ProcessAdopted, step_rpc::StepdAttach,
                   step_rpc::StepdLimit, step_rpc::TaskLaunch, step_rpc::StepCgroup, step_rpc::StepdLaunch, step_rpc::StepdSignal,
                   step_rpc::StepdEnd, step_rpc::StepdReport, step_rpc::IoHello, step_rpc::IoData, step_rpc::IoTaken, step_rpc::TasksEnded,
                   step_rpc::StepNote, step_rpc::IoSignal, step_rpc::IoWindow>;
TYPED_TEST_SUITE(StepMessage, Messages);

TYPED_TEST(StepMessage, ComesBackAsItWas) {
  Random rng(7);
  for (int i = 0; i < 20; ++i) {
    TypeParam value{}, back{};
    fill(rng, value);
    std::string bytes;
    encode(value, bytes);
    ASSERT_TRUE(decode(bytes, back));
    ASSERT_TRUE(equal(value, back));
    for (size_t n = 0; n < bytes.size(); n += 1 + bytes.size() / 32)
      if (auto cut = decode(std::string_view(bytes).substr(0, n), back); !cut) {
        ASSERT_EQ(cut.error().code, Errc::kFrameMalformed);
      }
  }
}

}  // namespace
}  // namespace muster::wire
