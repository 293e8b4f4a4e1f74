// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/chakra/trace.h"

#include <gtest/gtest.h>

#include "openmrc/base/rng.h"
#include "openmrc/sim/chakra/trace_writer.h"
#include "openmrc/sim/chakra/wire_reader.h"

namespace openmrc::sim {
namespace {

TEST(WireReader, ReadsEveryKindOfField) {
  const std::string message = wire_number(1, 300) + wire_bytes(2, "abc") + wire_varint(3 << 3 | 5) +
                              std::string("\x01\x00\x00\x80", 4) + wire_varint(4 << 3 | 1) +
                              std::string(7, '\0') + "\x01" +
                              wire_number(536'870'911, ~std::uint64_t{0});
  WireReader reader(message);
  EXPECT_EQ(reader.next()->value, 300U);
  EXPECT_EQ(reader.next()->bytes, "abc");
  EXPECT_EQ(reader.next()->value, 0x8000'0001U);
  EXPECT_EQ(reader.next()->value, std::uint64_t{1} << 56);
  const auto last = reader.next();
  EXPECT_EQ(last->number, 536'870'911U);
  EXPECT_EQ(last->value, ~std::uint64_t{0});
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_TRUE(reader.ok());
}

TEST(WireReader, RefusesWhatIsNoProtobuf) {
  for (const std::string& message :
       {std::string("\x08"), std::string("\x08\xff"), std::string("\x12\x05") + "abc",
        std::string("\x0b"), std::string("\x00\x01", 2), std::string("\x0d\x01\x02", 3),
        "\x08" + std::string(11, '\xff'), wire_varint(std::uint64_t{1} << 33)}) {
    WireReader reader(message);
    EXPECT_FALSE(reader.next().has_value());
    EXPECT_FALSE(reader.ok());
  }
}

TEST(Trace, ReadsNodesWithTheirAttributes) {
  const auto trace = parse_rank_trace(trace_file(
      {WrittenNode(7, 4).lasts(100, 20).with("num_ops", 5'000).with("tensor_size", 64, 13),
       WrittenNode(9, 7, {7, 300})
           .with("comm_type", 2)
           .with("comm_size", 1'000'000)
           .with("pg_name", "12")
           .with("is_cpu_op", 0, 27),
       WrittenNode(10, 5, {9}).with("comm_dst", 6, 15).with("comm_tag", 4, 7).with("comm_size", 9),
       WrittenNode(11, 6).with("comm_src", 2, 11).with("something", "else")}));
  ASSERT_TRUE(trace.has_value()) << trace.error();
  ASSERT_EQ(trace->size(), 4U);
  EXPECT_EQ((*trace)[0].id, 7U);
  EXPECT_EQ((*trace)[0].name, "a node");
  EXPECT_EQ((*trace)[0].start_us, 100U);
  EXPECT_EQ((*trace)[0].duration_us, 20U);
  EXPECT_EQ((*trace)[0].operations, 5'000U);
  EXPECT_EQ((*trace)[0].tensor_bytes, 64U);
  EXPECT_EQ((*trace)[1].kind, TraceKind::kCollective);
  EXPECT_EQ((*trace)[1].collective, TraceCollective::kAllGather);
  EXPECT_EQ((*trace)[1].waits_for, (std::vector<std::uint64_t>{7, 300}));
  EXPECT_EQ((*trace)[1].group, "12");
  EXPECT_EQ((*trace)[2].destination, 3U) << "sint32 is zigzag";
  EXPECT_EQ((*trace)[2].tag, 4U);
  EXPECT_EQ((*trace)[3].source, 2U);
}

TEST(Trace, SaysWhatIsWrong) {
  const auto error = [](const std::string& file) {
    const auto trace = parse_rank_trace(file);
    return trace ? std::string() : trace.error();
  };
  EXPECT_EQ(error(""), "has no nodes");
  EXPECT_EQ(error(trace_file({})), "has no nodes");
  EXPECT_EQ(error(trace_file({WrittenNode(3, 0)})), "node 3 has type 0");
  EXPECT_EQ(error(trace_file({WrittenNode(3, 11)})), "node 3 has type 11");
  EXPECT_EQ(error(trace_file({WrittenNode(3, 7).with("comm_type", 10)})),
            "node 3 has comm_type 10");
  EXPECT_EQ(error(trace_file({WrittenNode(3, 7).with("comm_size", ~std::uint64_t{0})})),
            "node 3 has a negative comm_size");
  const std::string good = trace_file({WrittenNode(3, 4)});
  EXPECT_EQ(error(good.substr(0, good.size() - 1)), "is cut off, or no Chakra trace");
  EXPECT_EQ(error("Nodes 16\nConnections 2\n"), "is cut off, or no Chakra trace");
}

// Damaged files are read or refused; nothing else happens.
TEST(Trace, SurvivesDamage) {
  const std::string good =
      trace_file({WrittenNode(7, 4).lasts(1, 2), WrittenNode(9, 7, {7}).with("comm_size", 1'000),
                  WrittenNode(10, 5, {9}).with("pg_name", "x")});
  Rng rng(1);
  int refused = 0;
  for (int i = 0; i < 2'000; ++i) {
    std::string bad = good;
    for (std::uint64_t n = 1 + rng.below(3); n > 0; --n) {
      bad[rng.below(bad.size())] = static_cast<char>(rng.below(256));
    }
    bad.resize(bad.size() - rng.below(4));
    const auto trace = parse_rank_trace(bad);
    if (!trace) {
      ++refused;
      EXPECT_FALSE(trace.error().empty());
    }
  }
  EXPECT_GT(refused, 1'000);
}

TEST(TraceGroups, AreListsOfRanks) {
  const auto groups = parse_trace_groups(R"({"0": [0, 2], "dp": [1]})");
  ASSERT_TRUE(groups.has_value());
  EXPECT_EQ(groups->at("0"), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(groups->size(), 2U);
  for (const char* bad : {"", "[1]", R"({"a": 3})", R"({"a": [-1]})", R"({"a": [4294967296]})"}) {
    EXPECT_FALSE(parse_trace_groups(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace openmrc::sim
