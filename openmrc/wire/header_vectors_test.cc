// SPDX-License-Identifier: BSD-3-Clause
// Headers that another implementation of MRC built, each with the fields that it put in. They must
// read to those fields and be written to the same bytes.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "openmrc/wire/header/bth.h"
#include "openmrc/wire/header/cc_state.h"
#include "openmrc/wire/header/erth.h"
#include "openmrc/wire/header/meth.h"
#include "openmrc/wire/header/neth.h"
#include "openmrc/wire/header/peth.h"
#include "openmrc/wire/header/reth.h"
#include "openmrc/wire/header/seth.h"
#include "openmrc/wire/header/tseth.h"
#include "tests/support/hex.h"

namespace openmrc::wire {
namespace {

using test::Bytes;

// The fields of one vector. Counts those that were asked for, so that none is overlooked.
class Fields {
 public:
  explicit Fields(const nlohmann::json& fields) : fields_(fields) {}

  template <class Number>
  Number get(const char* name) {
    ++asked_;
    return fields_.at(name).get<Number>();
  }
  bool flag(const char* name) { return get<unsigned>(name) != 0; }
  [[nodiscard]] bool all_asked() const { return asked_ == fields_.size(); }

 private:
  const nlohmann::json& fields_;
  std::size_t asked_ = 0;
};

template <class Header>
void expect_accepted(typename Header::View view) {
  if constexpr (requires { Header::check(view); }) {
    EXPECT_TRUE(Header::check(view));
  }
}

template <class Header>
void expect_both_ways(ConstBytes bytes, const Header& expected) {
  ASSERT_EQ(bytes.size(), Header::View::kSize);
  const auto view = *Header::View::over(bytes);
  expect_accepted<Header>(view);
  EXPECT_EQ(Header::read(view), expected);
  EXPECT_EQ(test::write_header(expected), Bytes::copy_of(bytes));
}

// Every record writes this format and no other.
void expect_format(Fields& fields) { EXPECT_EQ(fields.get<unsigned>("ftype"), kTimestampFormat); }

TxTimestamp timestamp(Fields& fields) {
  return {.ticks = fields.get<std::uint16_t>("tx_timestamp"),
          .unit = fields.flag("tsr") ? TickUnit::kVendor : TickUnit::k128Ns};
}

void check_bth(ConstBytes bytes, Fields& fields) {
  const Bth expected{.opcode = static_cast<Opcode>(fields.get<std::uint8_t>("opcode")),
                     .pkey = PKey(fields.get<std::uint16_t>("p_key")),
                     .destination_qp = Qpn(fields.get<std::uint32_t>("dqp")),
                     .ack_request = fields.flag("a"),
                     .retransmission = fields.flag("rtx"),
                     .has_timestamp = fields.flag("ts"),
                     .psn = Psn(fields.get<std::uint32_t>("psn"))};
  EXPECT_FALSE(fields.flag("r"));  // reserved
  expect_both_ways(bytes, expected);
}

void check_meth(ConstBytes bytes, Fields& fields) {
  expect_both_ways(bytes, Meth{.rqmsn = Rqmsn(fields.get<std::uint16_t>("rqmsn")),
                               .msn = Msn(fields.get<std::uint16_t>("msn"))});
}

void check_tseth(ConstBytes bytes, Fields& fields) {
  expect_format(fields);
  expect_both_ways(bytes, Tseth{timestamp(fields)});
}

void check_reth(ConstBytes bytes, Fields& fields) {
  expect_both_ways(bytes, Reth{.virtual_address = fields.get<std::uint64_t>("va"),
                               .rkey = RKey(fields.get<std::uint32_t>("r_key")),
                               .dma_length = fields.get<std::uint32_t>("dmalen")});
}

void check_sack(ConstBytes bytes, Fields& fields) {
  const auto trigger = fields.get<std::int16_t>("ack_psn_offset");
  const Seth seth{.mark = static_cast<PathMark>(fields.get<std::uint8_t>("m")),
                  .trigger = fields.flag("pr")
                                 ? SackTrigger::probe(ProbeId(static_cast<std::uint16_t>(trigger)))
                                 : SackTrigger::packet(trigger),
                  .entropy = Ev(fields.get<std::uint32_t>("entropy")),
                  .spdcid = ConnectionId(fields.get<std::uint16_t>("spdcid")),
                  .dpdcid = ConnectionId(fields.get<std::uint16_t>("dpdcid")),
                  .cack_psn = Psn(fields.get<std::uint32_t>("cack_psn")),
                  .mpr = fields.get<std::uint8_t>("mpr"),
                  .sack_offset = fields.get<std::int16_t>("sack_offset"),
                  .sack_bitmap = fields.get<std::uint64_t>("sack_bitmap")};
  const CcState cc_state{.tx_ticks = fields.get<std::uint16_t>("cc_tx_timestamp"),
                         .ooo_count = fields.get<std::uint16_t>("cc_ooo_count"),
                         .restore_cwnd = fields.flag("cc_r_c"),
                         .receiver_penalty = fields.get<std::uint8_t>("cc_rcv_cwnd_pen"),
                         .received_units = fields.get<std::uint32_t>("cc_rcvd_bytes")};
  ASSERT_EQ(bytes.size(), kSethSize + kCcStateSize);
  expect_both_ways(bytes.first(kSethSize), seth);
  expect_both_ways(bytes.subspan(kSethSize), cc_state);
}

void check_neth(ConstBytes bytes, Fields& fields) {
  EXPECT_EQ(fields.get<unsigned>("cc_type"), kNackCcType);
  expect_both_ways(bytes,
                   Neth{.reason = static_cast<NackReason>(fields.get<std::uint8_t>("nack_reason")),
                        .vendor_info = fields.get<std::uint8_t>("vendor_info"),
                        .entropy = Ev(fields.get<std::uint32_t>("entropy")),
                        .spdcid = ConnectionId(fields.get<std::uint16_t>("spdcid")),
                        .dpdcid = ConnectionId(fields.get<std::uint16_t>("dpdcid")),
                        .psn = Psn(fields.get<std::uint32_t>("nack_psn")),
                        .tx_ticks = fields.get<std::uint16_t>("tx_timestamp")});
}

void check_peth(ConstBytes bytes, Fields& fields) {
  expect_format(fields);
  expect_both_ways(bytes, Peth{.vendor_info = fields.get<std::uint8_t>("vendor_info"),
                               .id = ProbeId(fields.get<std::uint16_t>("probe_id")),
                               .spdcid = ConnectionId(fields.get<std::uint16_t>("spdcid")),
                               .dpdcid = ConnectionId(fields.get<std::uint16_t>("dpdcid")),
                               .sent = timestamp(fields)});
}

void check_erth(ConstBytes bytes, Fields& fields) {
  expect_format(fields);
  expect_both_ways(bytes, Erth{.op = static_cast<EndpointOp>(fields.get<std::uint8_t>("op")),
                               .vendor_info = fields.get<std::uint8_t>("vendor_info"),
                               .port_status_mask = fields.get<std::uint32_t>("port_status_mask"),
                               .sent = timestamp(fields)});
}

using Check = void (*)(ConstBytes, Fields&);
const std::map<std::string, Check> kChecks{
    {"BTH", check_bth},   {"METH", check_meth},          {"TSETH", check_tseth},
    {"RETH", check_reth}, {"SETH+CC_STATE", check_sack}, {"NETH", check_neth},
    {"PETH", check_peth}, {"ERTH", check_erth}};

// WIRE-1
TEST(HeaderVectors, AllReadToTheirFieldsAndAreWrittenToTheirBytes) {
  std::ifstream file(OPENMRC_HEADER_VECTORS);
  ASSERT_TRUE(file) << OPENMRC_HEADER_VECTORS;
  std::map<std::string, int> checked;
  int total = 0;
  for (std::string line; std::getline(file, line); ++total) {
    SCOPED_TRACE(line);
    const auto vector = nlohmann::json::parse(line);
    const std::string kind = vector.at("header");
    ASSERT_TRUE(kChecks.contains(kind));
    Fields fields(vector.at("fields"));
    kChecks.at(kind)(test::from_hex(vector.at("hex").get<std::string>()), fields);
    EXPECT_TRUE(fields.all_asked());
    ++checked[kind];
  }
  EXPECT_EQ(total, 512);
  EXPECT_EQ(checked.size(), kChecks.size());
  for (const auto& [kind, count] : checked) EXPECT_EQ(count, 64) << kind;
}

}  // namespace
}  // namespace openmrc::wire
