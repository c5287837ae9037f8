#include "base/plain_text.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

std::string shown(std::string_view text) {
  std::string out = "before\n", appended = out;
  append_plain(appended, text);
  out += text;
  make_plain(out, 7);
  EXPECT_EQ(out, appended);
  EXPECT_EQ(out.substr(7), plain(text));
  return out.substr(7);
}

TEST(PlainText, LeavesWhatPeopleWrite) {
  for (std::string text : {"", "train resnet-50",
                           "Gr\xc3\xb6\xc3\x9f"
                           "e \xe2\x82\xac \xf0\x9f\x9a\x80",
                           "a\\nb", "\xc2\xa0"})
    EXPECT_EQ(shown(text), text);
}

TEST(PlainText, QuotesWhatBeginsALineOrIsObeyed) {
  EXPECT_EQ(shown("x\nJobId=1 JobState=RUNNING"), "x\\nJobId=1 JobState=RUNNING");
  EXPECT_EQ(shown("\x1b[2J\r\t\x7f"), "\\x1b[2J\\r\\t\\x7f");
  EXPECT_EQ(shown(std::string("\0x", 2)), "\\x00x");
  EXPECT_EQ(shown("\xc2\x9b"
                  "31m"),
            "\\xc2\\x9b31m");  // the same as ESC [ in one character
}

TEST(PlainText, QuotesWhatIsNotUtf8) {
  EXPECT_EQ(shown("\xff"), "\\xff");
  EXPECT_EQ(shown("\x9b"), "\\x9b");
  EXPECT_EQ(shown("\xc3"), "\\xc3");                    // cut off
  EXPECT_EQ(shown("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
}

// Eight characters are looked at at a time where there are as many.
TEST(PlainText, FindsEachCharacterWhereverItStands) {
  for (int c = 0; c < 256; ++c)
    for (size_t at = 0; at < 20; ++at) {
      std::string text(20, 'a');
      text[at] = static_cast<char>(c);
      EXPECT_EQ(shown(text) == text, c >= 0x20 && c < 0x7f) << c << " at " << at;
    }
}

}  // namespace
}  // namespace muster
