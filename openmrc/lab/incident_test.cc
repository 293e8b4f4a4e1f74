// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/incident.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "openmrc/lab/test_spec.h"

namespace openmrc::lab {
namespace {

using fabric::LinkId;
using Kind = JournalEntry::Kind;

constexpr std::int64_t kSecond = 1'000'000'000;
const LinkId kUplink{.kind = LinkId::Kind::kUplink, .plane = Plane(1), .rack = 0, .port = 0};
const LinkId kHostLink{.kind = LinkId::Kind::kHost, .plane = Plane(0), .rack = 1, .port = 0};

Spec shaped_lab() {
  Spec spec = small_lab();
  spec.bits_per_second = 100'000'000;
  return spec;
}

std::string faults_of(const std::vector<JournalEntry>& journal) {
  const auto text = scenario_of(shaped_lab(), journal, {.begin_ns = 10 * kSecond});
  EXPECT_TRUE(text.has_value());
  const std::size_t begin = text->find("\n[[fault]]");
  return begin == std::string::npos ? "" : text->substr(begin);
}

TEST(LabJournal, ReadsWhatItWrites) {
  const JournalEntry entry{
      .kind = Kind::kLoss, .at_ns = 12'345, .loss = 250, .links = {kUplink, kHostLink}};
  const std::string line = to_line(entry);
  EXPECT_EQ(line,
            "{\"at_ns\":12345,\"did\":\"loss\",\"loss\":250,\"links\":[\"p1.t0-0/up0\","
            "\"p0.t0-1/down0\"]}\n");
  EXPECT_EQ(entry_from(line, small_lab().fabric()), entry);
}

TEST(LabJournal, RefusesWhatIsNoLine) {
  const fabric::Fabric fabric = small_lab().fabric();
  for (const char* line : {"", "{", "[]", "{}", R"({"at_ns":1,"did":"sing","loss":0,"links":[]})",
                           R"({"at_ns":"1","did":"cut","loss":0,"links":[]})",
                           R"({"at_ns":1,"did":"cut","loss":-1,"links":[]})",
                           R"({"at_ns":1,"did":"cut","loss":0,"links":["p9.t0-0/up0"]})",
                           R"({"at_ns":1,"did":"cut","loss":0,"links":[7]})"}) {
    EXPECT_FALSE(entry_from(line, fabric).has_value()) << line;
  }
}

TEST(LabJournal, IsEmptyWithoutAFile) {
  Spec spec = small_lab();
  spec.name = "no_such_lab";
  const auto journal = read_journal(spec);
  ASSERT_TRUE(journal.has_value());
  EXPECT_TRUE(journal->empty());
  EXPECT_FALSE(write_journal(spec, {}).has_value()) << "there is no folder";
}

TEST(LabIncident, IsTheFabricOfTheLab) {
  const auto text = scenario_of(
      shaped_lab(), {},
      {.flows = {{.from = fabric::HostIndex(0), .to = fabric::HostIndex(1), .bytes = 8 << 20}}});
  ASSERT_TRUE(text.has_value());
  EXPECT_TRUE(text->starts_with(
      "title = \"What happened in the lab 'try'\"\n\n[fabric]\nplanes = 2\nracks = 2\n"
      "hosts_per_rack = 1\nuplinks = 1\nhost_link_gbps = 0.1\n"))
      << *text;
  EXPECT_NE(text->find("\n[switches]\ntrimming = false\necn = false\nqueue_bytes = 131072\n"),
            std::string::npos)
      << *text;
  // Sixteen at a time, two of each: 8 MiB.
  const std::string flow = "  { from = 0, to = 1, bytes = 262144, repeat = 2 },\n";
  std::size_t flows = 0;
  for (std::size_t at = text->find(flow); at != std::string::npos; at = text->find(flow, at + 1)) {
    ++flows;
  }
  EXPECT_EQ(flows, 16U);
}

TEST(LabIncident, NeedsLinksOfAKnownSpeed) {
  const auto text = scenario_of(small_lab(), {}, {});
  ASSERT_FALSE(text.has_value());
  EXPECT_NE(text.error().find("build it with --rate"), std::string::npos);
}

TEST(LabIncident, HasEachFaultFromItsBeginToItsEnd) {
  EXPECT_EQ(faults_of({{.kind = Kind::kCut, .at_ns = 11 * kSecond, .links = {kUplink}},
                       {.kind = Kind::kHealed, .at_ns = 12 * kSecond, .links = {kUplink}}}),
            "\n[[fault]]\nkind = \"cut\"\ntarget = [\"p1.t0-0/up0\"]\nat = \"1000000 us\"\n"
            "until = \"2000000 us\"\n");
  EXPECT_EQ(
      faults_of({{.kind = Kind::kLoss, .at_ns = 9 * kSecond, .loss = 250, .links = {kUplink}}}),
      "\n[[fault]]\nkind = \"loss\"\ntarget = [\"p1.t0-0/up0\"]\nrate = \"2.50 %\"\n"
      "at = \"0 us\"\n");
}

TEST(LabIncident, LeavesOutWhatWasOverBefore) {
  EXPECT_EQ(faults_of({{.kind = Kind::kCut, .at_ns = 1 * kSecond, .links = {kUplink}},
                       {.kind = Kind::kHealed, .at_ns = 2 * kSecond, .links = {kUplink}}}),
            "");
}

TEST(LabIncident, ASilentLinkIsNotSeenByItsHost) {
  EXPECT_EQ(
      faults_of(
          {{.kind = Kind::kLoss, .at_ns = 11 * kSecond, .loss = 10'000, .links = {kHostLink}}}),
      "\n[[fault]]\nkind = \"cut\"\ntarget = [\"p0.t0-1/down0\"]\nseen = false\n"
      "at = \"1000000 us\"\n");
}

// A link can lose packets, then more of them, and be cut besides; healing ends all of it.
TEST(LabIncident, FaultsOfOneLinkOverlap) {
  const std::string text =
      faults_of({{.kind = Kind::kLoss, .at_ns = 10 * kSecond, .loss = 100, .links = {kUplink}},
                 {.kind = Kind::kCut, .at_ns = 11 * kSecond, .links = {kUplink, kHostLink}},
                 {.kind = Kind::kCut, .at_ns = 12 * kSecond, .links = {kUplink}},
                 {.kind = Kind::kLoss, .at_ns = 13 * kSecond, .loss = 200, .links = {kUplink}},
                 {.kind = Kind::kHealed, .at_ns = 14 * kSecond, .links = {kUplink, kHostLink}}});
  EXPECT_EQ(text,
            "\n[[fault]]\nkind = \"cut\"\ntarget = [\"p0.t0-1/down0\", \"p1.t0-0/up0\"]\n"
            "at = \"1000000 us\"\nuntil = \"4000000 us\"\n"
            "\n[[fault]]\nkind = \"loss\"\ntarget = [\"p1.t0-0/up0\"]\nrate = \"1.00 %\"\n"
            "at = \"0 us\"\nuntil = \"3000000 us\"\n"
            "\n[[fault]]\nkind = \"loss\"\ntarget = [\"p1.t0-0/up0\"]\nrate = \"2.00 %\"\n"
            "at = \"3000000 us\"\nuntil = \"4000000 us\"\n");
}

}  // namespace
}  // namespace openmrc::lab
