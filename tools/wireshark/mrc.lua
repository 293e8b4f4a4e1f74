-- SPDX-License-Identifier: BSD-3-Clause
--
-- Wireshark dissector of MRC (Multipath Reliable Connection).
--
--   tshark -X lua_script:tools/wireshark/mrc.lua -r capture.pcapng
--
-- or copy the file into the personal Lua plugin folder (Help > About Wireshark > Folders).
--
-- MRC shares UDP port 4791 with RoCEv2 and is told apart by its opcode block, so every other
-- opcode goes to the dissector that had the port before. The UDP source port is half of the
-- entropy value and can be any number; Wireshark asks the dissector of the LOWER port first, so a
-- packet sent from, say, port 53 looks like DNS. The option -o udp.try_heuristic_first:TRUE lets
-- the heuristic at the end of this file claim such packets.
--
-- MRC has no UDP checksum (its ICRC covers more), which IPv6 allows where the protocol says so
-- (RFC 6935) and Wireshark reports as an error. The script therefore sets the preference
-- udp.ignore_ipv6_zero_checksum, for all of UDP; -o udp.ignore_ipv6_zero_checksum:FALSE undoes it.
--
-- Layers, as on the wire:
--   Ethernet | [outer IPv6 [SRH]] | IPv6 or IPv4 | UDP | BTH |
--     request: METH [TSETH] RETH [ImmDt] payload pad
--     control: one of AETH, SETH + CC_STATE, NETH, PETH, ERTH, EETH
--   | ICRC

local mrc = Proto("mrc", "Multipath Reliable Connection")

-- Wireshark before 3.6 has no such function: there it is to be set by hand.
if set_preference then
  set_preference("udp.ignore_ipv6_zero_checksum", true)
end

-- Wireshark before 4.4 runs Lua 5.2 with bit32, later ones have only their own bit library.
local bits = bit32 or bit

---------------------------------------------------------------------------------------------------
-- Preferences
---------------------------------------------------------------------------------------------------

mrc.prefs.port = Pref.uint("UDP port", 4791, "Destination port of MRC; shared with RoCEv2")
mrc.prefs.second_port = Pref.uint("Second UDP port", 4971, "Another destination port; 0 for none")
mrc.prefs.dscp_trimmed = Pref.uint("DSCP of TRIMMED", 14,
  "Set by a switch on a packet that it trimmed")
mrc.prefs.dscp_trimmed_lasthop = Pref.uint("DSCP of TRIMMED_LASTHOP", 22,
  "Set by the last switch of the path on a packet that it trimmed")
mrc.prefs.check_icrc = Pref.bool("Check ICRC", true, "Compute the invariant CRC of each packet")

---------------------------------------------------------------------------------------------------
-- Numbers with names
---------------------------------------------------------------------------------------------------

local SIZE = {
  BTH = 12, METH = 4, TSETH = 4, RETH = 16, ImmDt = 4, AETH = 4, SETH = 28, CC_STATE = 8,
  NETH = 20, PETH = 16, ERTH = 16, EETH = 36, ICRC = 4,
}

local PSN_MODULUS = 0x1000000
local ENDPOINT_QP = 2          -- endpoint requests and responses belong to no connection
local FTYPE_TIMESTAMP = 1
local TICK_NS = 128            -- unit of a timestamp whose TSR bit is 0
local RCVD_BYTES_UNIT = 256
local MPR_UNIT = 128

local OPCODE_NAME = {
  [0xC6] = "RDMA WRITE First",
  [0xC7] = "RDMA WRITE Middle",
  [0xC8] = "RDMA WRITE Last",
  [0xC9] = "RDMA WRITE Last with Immediate",
  [0xCA] = "RDMA WRITE Only",
  [0xCB] = "RDMA WRITE Only with Immediate",
  [0xD1] = "Acknowledge",
  [0xD8] = "Endpoint Request",
  [0xD9] = "Endpoint Response",
  [0xDC] = "Reliability SACK",
  [0xDD] = "Reliability NACK",
  [0xDE] = "Reliability Probe Request",
}

local MARK_RESERVED = 3
local MARK_NAME = {
  [0] = "NONE", [1] = "SKIP_ONCE", [2] = "ALWAYS_SKIP", [MARK_RESERVED] = "reserved",
}

local NACK_NAME = {
  [0x01] = "TRIMMED",
  [0x02] = "TRIMMED_LASTHOP",
  [0x06] = "NO_BITMAP",
  [0x07] = "NO_PKT_BUFFER",
  [0x0A] = "NO_RESOURCE",
  [0x0B] = "PSN_OOR_WINDOW",
  [0x19] = "UNEXP_EVENT",
}

local ENDPOINT_OP_NAME = {
  [0] = "PORT_STATUS", [1] = "EV_PROBE", [2] = "reserved", [3] = "reserved",
}
local TSR_NAME = { [0] = "128 ns ticks", [1] = "implementation defined" }
local PROBE_NAME = { [0] = "answers a request packet", [1] = "answers a reliability probe" }
local ICRC_BAD, ICRC_GOOD = 0, 1
local ICRC_STATUS_NAME = { [ICRC_BAD] = "Bad", [ICRC_GOOD] = "Good" }

-- AETH syndrome: bits 6:5 say what it is, bits 4:0 are the credit count or the error code.
local AETH_NAK_NAME = {
  [0] = "PSN Sequence Error", [1] = "Invalid Request", [2] = "Remote Access Error",
  [3] = "Remote Operational Error", [4] = "Invalid RD Request",
}
local AETH_NO_CREDIT = 0x1F

---------------------------------------------------------------------------------------------------
-- Fields
---------------------------------------------------------------------------------------------------

local f = {
  opcode = ProtoField.uint8("mrc.opcode", "Opcode", base.HEX, OPCODE_NAME),
  se = ProtoField.bool("mrc.se", "Solicited event", 8, nil, 0x80),
  m = ProtoField.bool("mrc.m", "Migration request", 8, nil, 0x40),
  pad = ProtoField.uint8("mrc.pad", "Pad count", base.DEC, nil, 0x30),
  tver = ProtoField.uint8("mrc.tver", "Transport header version", base.DEC, nil, 0x0F),
  pkey = ProtoField.uint16("mrc.pkey", "Partition key", base.HEX),
  dqp = ProtoField.uint24("mrc.dqp", "Destination queue pair", base.HEX),
  ackreq = ProtoField.bool("mrc.ackreq", "Acknowledge request", 8, nil, 0x80),
  rtx = ProtoField.bool("mrc.rtx", "Retransmission", 8, nil, 0x20),
  ts = ProtoField.bool("mrc.ts", "TSETH present", 8, nil, 0x10),
  psn = ProtoField.uint24("mrc.psn", "Packet sequence number", base.DEC),
  ev = ProtoField.uint32("mrc.ev", "Entropy value", base.HEX),

  meth_rqmsn = ProtoField.uint16("mrc.meth.rqmsn", "Receive queue message number", base.DEC),
  meth_msn = ProtoField.uint16("mrc.meth.msn", "Message sequence number", base.DEC),

  tseth_timestamp = ProtoField.uint16("mrc.tseth.timestamp", "Transmit timestamp", base.DEC),
  tseth_tsr = ProtoField.uint16("mrc.tseth.tsr", "Timestamp resolution", base.DEC, TSR_NAME,
    0x8000),
  tseth_ftype = ProtoField.uint16("mrc.tseth.ftype", "Format type", base.DEC, nil, 0x000F),

  reth_va = ProtoField.uint64("mrc.reth.va", "Virtual address", base.HEX),
  reth_rkey = ProtoField.uint32("mrc.reth.rkey", "Remote key", base.HEX),
  reth_dmalen = ProtoField.uint32("mrc.reth.dmalen", "Message length", base.DEC),
  immdt = ProtoField.uint32("mrc.immdt", "Immediate data", base.HEX),

  aeth_syndrome = ProtoField.uint8("mrc.aeth.syndrome", "Syndrome", base.HEX),
  aeth_msn = ProtoField.uint24("mrc.aeth.msn", "Message sequence number", base.DEC),

  sack_mark = ProtoField.uint8("mrc.sack.mark", "Path mark", base.DEC, MARK_NAME, 0x60),
  sack_pr = ProtoField.uint8("mrc.sack.pr", "Probe response", base.DEC, PROBE_NAME, 0x02),
  sack_ack_psn_offset = ProtoField.int16("mrc.sack.ack_psn_offset", "Trigger PSN offset", base.DEC),
  sack_probe_id = ProtoField.uint16("mrc.sack.probe_id", "Probe id", base.DEC),
  sack_ack_psn = ProtoField.uint24("mrc.sack.ack_psn", "Trigger PSN", base.DEC),
  sack_entropy = ProtoField.uint32("mrc.sack.entropy", "Reflected entropy value", base.HEX),
  sack_spdcid = ProtoField.uint16("mrc.sack.spdcid", "Source context id", base.HEX),
  sack_dpdcid = ProtoField.uint16("mrc.sack.dpdcid", "Destination context id", base.HEX),
  sack_cack_psn = ProtoField.uint24("mrc.sack.cack_psn", "Cumulative PSN", base.DEC),
  sack_cc_type = ProtoField.uint8("mrc.sack.cc_type", "CC type", base.DEC, nil, 0xF0),
  sack_cc_flags = ProtoField.uint8("mrc.sack.cc_flags", "CC flags", base.HEX, nil, 0x0F),
  sack_mpr = ProtoField.uint8("mrc.sack.mpr", "Maximum PSN range", base.DEC),
  sack_sack_offset = ProtoField.int16("mrc.sack.sack_offset", "Bitmap offset", base.DEC),
  sack_bitmap = ProtoField.uint64("mrc.sack.bitmap", "Bitmap", base.HEX),
  sack_bitmap_base = ProtoField.uint24("mrc.sack.bitmap_base", "PSN of bitmap bit 0", base.DEC),

  cc_timestamp = ProtoField.uint16("mrc.cc.timestamp", "Reflected timestamp", base.DEC),
  cc_ooo_count = ProtoField.uint16("mrc.cc.ooo_count", "Out-of-order count", base.DEC, nil, 0x7FFF),
  cc_restore_cwnd = ProtoField.bool("mrc.cc.restore_cwnd", "Restore window", 8, nil, 0x80),
  cc_rcv_cwnd_pen = ProtoField.uint8("mrc.cc.rcv_cwnd_pen", "Receiver window penalty", base.DEC,
    nil, 0x7F),
  cc_rcvd_bytes = ProtoField.uint24("mrc.cc.rcvd_bytes", "Received bytes / 256", base.DEC),

  nack_reason = ProtoField.uint8("mrc.nack.reason", "Reason", base.HEX, NACK_NAME),
  nack_vendor_info = ProtoField.uint8("mrc.nack.vendor_info", "Vendor information", base.HEX),
  nack_entropy = ProtoField.uint32("mrc.nack.entropy", "Reflected entropy value", base.HEX),
  nack_spdcid = ProtoField.uint16("mrc.nack.spdcid", "Source context id", base.HEX),
  nack_dpdcid = ProtoField.uint16("mrc.nack.dpdcid", "Destination context id", base.HEX),
  nack_psn = ProtoField.uint24("mrc.nack.psn", "PSN not accepted", base.DEC),
  nack_cc_type = ProtoField.uint8("mrc.nack.cc_type", "CC type", base.DEC, nil, 0xF0),
  nack_cc_flags = ProtoField.uint8("mrc.nack.cc_flags", "CC flags", base.HEX, nil, 0x0F),
  nack_timestamp = ProtoField.uint16("mrc.nack.timestamp", "Reflected timestamp", base.DEC),

  probe_vendor_info = ProtoField.uint8("mrc.probe.vendor_info", "Vendor information", base.HEX),
  probe_id = ProtoField.uint16("mrc.probe.id", "Probe id", base.DEC),
  probe_spdcid = ProtoField.uint16("mrc.probe.spdcid", "Source context id", base.HEX),
  probe_dpdcid = ProtoField.uint16("mrc.probe.dpdcid", "Destination context id", base.HEX),
  probe_timestamp = ProtoField.uint16("mrc.probe.timestamp", "Transmit timestamp", base.DEC),
  probe_tsr = ProtoField.uint16("mrc.probe.tsr", "Timestamp resolution", base.DEC, TSR_NAME,
    0x8000),
  probe_ftype = ProtoField.uint16("mrc.probe.ftype", "Format type", base.DEC, nil, 0x000F),

  epreq_op = ProtoField.uint8("mrc.epreq.op", "Operation", base.DEC, ENDPOINT_OP_NAME, 0x03),
  epreq_vendor_info = ProtoField.uint8("mrc.epreq.vendor_info", "Vendor information", base.HEX),
  epreq_port_status_mask = ProtoField.uint32("mrc.epreq.port_status_mask", "Reachable ports",
    base.HEX),
  epreq_timestamp = ProtoField.uint16("mrc.epreq.timestamp", "Transmit timestamp", base.DEC),
  epreq_tsr = ProtoField.uint16("mrc.epreq.tsr", "Timestamp resolution", base.DEC, TSR_NAME,
    0x8000),
  epreq_ftype = ProtoField.uint16("mrc.epreq.ftype", "Format type", base.DEC, nil, 0x000F),
  eprsp_op = ProtoField.uint8("mrc.eprsp.op", "Operation", base.DEC, ENDPOINT_OP_NAME, 0x0C),
  eprsp_timestamp = ProtoField.uint16("mrc.eprsp.timestamp", "Reflected timestamp", base.DEC),
  ep_id = ProtoField.uint16("mrc.ep.id", "Request id", base.DEC),

  payload = ProtoField.bytes("mrc.payload", "Payload"),
  payload_len = ProtoField.uint32("mrc.payload.len", "Payload length", base.DEC),
  padding = ProtoField.bytes("mrc.padding", "Padding"),
  leftover = ProtoField.bytes("mrc.leftover", "Bytes that fit no header"),

  trimmed = ProtoField.bool("mrc.trimmed", "Trimmed by a switch"),
  trim_lasthop = ProtoField.bool("mrc.trim.lasthop", "Trimmed at the last hop"),
  trim_rest = ProtoField.bytes("mrc.trim.rest", "Bytes left by the trim"),

  icrc = ProtoField.uint32("mrc.icrc", "Invariant CRC", base.HEX),
  icrc_status = ProtoField.uint8("mrc.icrc.status", "ICRC status", base.DEC, ICRC_STATUS_NAME),

  srv6_block = ProtoField.uint32("mrc.srv6.block", "uSID block", base.HEX),
  srv6_usid = ProtoField.uint16("mrc.srv6.usid", "uSID", base.HEX),
  srv6_srh_usid = ProtoField.uint16("mrc.srv6.srh.usid", "SRH uSID", base.HEX),
}
mrc.fields = f

local function expert_info(name, text, group, severity)
  return ProtoExpert.new("mrc.expert." .. name, text, expert.group[group],
    expert.severity[severity])
end

local e = {
  unknown_opcode = expert_info("unknown_opcode", "unknown MRC opcode", "UNDECODED", "ERROR"),
  truncated = expert_info("truncated", "truncated header", "MALFORMED", "ERROR"),
  after_control = expert_info("after_control", "bytes after a control header", "PROTOCOL", "WARN"),
  tver = expert_info("tver", "non-zero transport header version", "PROTOCOL", "WARN"),
  reserved_qp = expert_info("reserved_qp", "wrong use of a reserved queue pair",
    "PROTOCOL", "WARN"),
  psn_differs = expert_info("psn_differs", "BTH and the control header name different PSNs",
    "PROTOCOL", "NOTE"),
  no_payload = expert_info("no_payload", "write without payload", "PROTOCOL", "WARN"),
  nack_reason = expert_info("nack_reason", "unknown NACK reason", "PROTOCOL", "WARN"),
  mark = expert_info("mark", "reserved path mark", "PROTOCOL", "WARN"),
  ftype = expert_info("ftype", "timestamp of unknown format", "PROTOCOL", "WARN"),
  pad = expert_info("pad", "pad count larger than the payload", "MALFORMED", "ERROR"),
  icrc = expert_info("icrc", "bad ICRC", "CHECKSUM", "WARN"),
}
mrc.experts = e

-- What the layers below found. Wireshark demands that extractors exist before any dissection.
local get_ip = Field.new("ip")
local get_ipv6 = Field.new("ipv6")
local get_udp = Field.new("udp")
local get_routing = Field.new("ipv6.routing")
local get_segments_left = Field.new("ipv6.routing.segleft")
local get_segment = Field.new("ipv6.routing.srh.addr")

---------------------------------------------------------------------------------------------------
-- The layers below
---------------------------------------------------------------------------------------------------

local IPV4_MIN_SIZE = 20
local IPV6_SIZE = 40
local UDP_SIZE = 8
local NEXT_IPV6 = 41
local NEXT_ROUTING = 43

local function add_layers(layers, version, min_size, infos)
  for _, info in ipairs(infos) do
    if info.len >= min_size then
      layers[#layers + 1] = { version = version, offset = info.offset, range = info.range }
    end
  end
end

-- All IP headers of the frame so far, outermost first.
local function ip_layers()
  local layers = {}
  add_layers(layers, 4, IPV4_MIN_SIZE, { get_ip() })
  add_layers(layers, 6, IPV6_SIZE, { get_ipv6() })
  table.sort(layers, function(a, b) return a.offset < b.offset end)
  return layers
end

local function dscp_of(layer)
  local first_word = layer.range:range(0, 4)
  if layer.version == 4 then
    return first_word:bitfield(8, 6)
  end
  return first_word:bitfield(4, 6)
end

-- The extension header right behind an outer IPv6 header, if it is a routing header.
local function routing_header_of(layer)
  if layer.range:range(6, 1):uint() ~= NEXT_ROUTING then
    return nil
  end
  for _, info in ipairs({ get_routing() }) do
    if info.offset == layer.offset + IPV6_SIZE and info.len >= 8 then
      return info
    end
  end
  return nil
end

-- The outer header of an IPv6-in-IPv6 packet and its routing header, or nil when the header
-- before the innermost one is something else (IPv4, or the carrier of another tunnel).
local function srv6_encapsulation(layers)
  local outer, inner = layers[#layers - 1], layers[#layers]
  if outer == nil or outer.version ~= 6 or inner.version ~= 6 then
    return nil
  end
  local next_header, next_offset = outer.range:range(6, 1):uint(), outer.offset + IPV6_SIZE
  local routing = routing_header_of(outer)
  if routing ~= nil then
    next_header, next_offset = routing.range:range(0, 1):uint(), routing.offset + routing.len
  end
  if next_header == NEXT_IPV6 and next_offset == inner.offset then
    return outer, routing
  end
  return nil
end

local function innermost_udp()
  local udps = { get_udp() }
  local udp = udps[#udps]
  return udp and udp.len >= UDP_SIZE and udp or nil
end

-- Bytes of the UDP payload when it was sent. Fewer are there if the capture has a length limit, if
-- a switch trimmed the packet, or if it is quoted in an ICMP error.
local function wire_length(tvb, udp)
  local udp_length = udp and udp.range:range(4, 2):uint() or 0
  return math.max(tvb:reported_len(), udp_length - UDP_SIZE)
end

---------------------------------------------------------------------------------------------------
-- ICRC
---------------------------------------------------------------------------------------------------

local function make_crc_table()
  local crc_table = {}
  for byte = 0, 255 do
    local value = byte
    for _ = 1, 8 do
      local carry = value % 2
      value = bits.rshift(value, 1)
      if carry == 1 then
        value = bits.bxor(value, 0xEDB88320)
      end
    end
    crc_table[byte] = value
  end
  return crc_table
end

local CRC_TABLE = make_crc_table()

local function crc_update(crc, bytes)
  local band, bxor, rshift, byte_at = bits.band, bits.bxor, bits.rshift, string.byte
  for i = 1, #bytes do
    crc = bxor(rshift(crc, 8), CRC_TABLE[band(bxor(crc, byte_at(bytes, i)), 0xFF)])
  end
  return crc
end

-- Replaces the bytes at the given zero-based offsets by 0xFF.
local function mask_bytes(bytes, offsets)
  for _, at in ipairs(offsets) do
    bytes = bytes:sub(1, at) .. "\255" .. bytes:sub(at + 2)
  end
  return bytes
end

-- The IP header as the ICRC sees it: what routers may change reads as ones.
local function icrc_ip_header(layer)
  if layer.version == 4 then
    return mask_bytes(layer.range:raw(), { 1, 8, 10, 11 })
  end
  local header = layer.range:range(0, IPV6_SIZE):raw()
  return "\111\255\255\255" .. mask_bytes(header, { 7 }):sub(5)  -- 0x6F: the version stays
end

-- The ICRC that a packet with these innermost headers should have, or nil if something stands
-- between the two. The packet must be there as a whole.
local function compute_icrc(layer, udp, tvb)
  if layer == nil or udp == nil then
    return nil
  end
  local ip_size = layer.version == 4 and layer.range:len() or IPV6_SIZE
  if udp.offset ~= layer.offset + ip_size then
    return nil
  end
  local crc = 0xFFFFFFFF
  crc = crc_update(crc, string.rep("\255", 8))  -- stands for the InfiniBand local route header
  crc = crc_update(crc, icrc_ip_header(layer))
  crc = crc_update(crc, mask_bytes(udp.range:range(0, UDP_SIZE):raw(), { 6, 7 }))
  crc = crc_update(crc, mask_bytes(tvb:raw(0, SIZE.BTH), { 4 }))
  crc = crc_update(crc, tvb:raw(SIZE.BTH, tvb:len() - SIZE.BTH - SIZE.ICRC))
  return bits.bnot(crc) % 0x100000000  -- some bit libraries give signed results
end

---------------------------------------------------------------------------------------------------
-- Helpers of the header functions. All of them work on one table `p`, the packet:
--   tvb, tree         the UDP payload and the MRC subtree
--   wire_length       length of the UDP payload when it was sent
--   layers, udp       the headers below
--   pos, stop         next byte to read, end of what comes before the ICRC
--   trimmed           a switch cut the packet
--   cut               a header was not whole
--   opcode, dqp, psn, pad, has_timestamp    from BTH
--   words             what the Info column will say
---------------------------------------------------------------------------------------------------

local function say(p, format, ...)
  p.words[#p.words + 1] = string.format(format, ...)
end

local function wrap_psn(number)
  return number % PSN_MODULUS
end

-- Takes the next header off the packet: its subtree and its bytes, or nil when it is not whole.
-- A switch may cut a packet behind TSETH, so a header that is `trimmable` may rightly be missing.
local function take_header(p, name, trimmable)
  local size = SIZE[name]
  local there = math.max(p.stop - p.pos, 0)
  if there < size then
    if not (p.trimmed and trimmable) then
      local why = p.tvb:len() < p.wire_length and " (the packet was longer)" or ""
      p.tree:add_proto_expert_info(e.truncated,
        string.format("truncated header: %s needs %d bytes, %d there%s", name, size, there, why))
      say(p, "[truncated %s]", name)
    end
    p.cut = true
    return nil
  end
  local bytes = p.tvb:range(p.pos, size)
  p.pos = p.pos + size
  return p.tree:add(bytes, name), bytes
end

local function add_timestamp(tree, field, bytes, resolution)
  local item = tree:add(field, bytes)
  if resolution == 0 then
    item:append_text(string.format(" (%.3f us)", bytes:uint() * TICK_NS / 1000))
  end
end

-- The four bytes that TSETH, PETH and ERTH share: timestamp, TSR bit, ftype.
local function add_transmit_time(tree, bytes, timestamp_field, tsr_field, ftype_field)
  local flags = bytes:range(2, 2)
  add_timestamp(tree, timestamp_field, bytes:range(0, 2), flags:bitfield(0, 1))
  tree:add(tsr_field, flags)
  local item = tree:add(ftype_field, flags)
  local ftype = flags:bitfield(12, 4)
  if ftype ~= FTYPE_TIMESTAMP then
    item:add_proto_expert_info(e.ftype,
      string.format("ftype is %d, not %d", ftype, FTYPE_TIMESTAMP))
  end
end

-- BTH repeats the PSN that a SACK or NACK is about.
local function check_bth_psn(p, item, psn)
  if psn ~= p.psn then
    item:add_proto_expert_info(e.psn_differs,
      string.format("BTH says PSN %d, this header %d", p.psn, psn))
  end
end

---------------------------------------------------------------------------------------------------
-- Headers
---------------------------------------------------------------------------------------------------

local function is_endpoint(opcode)
  return opcode == 0xD8 or opcode == 0xD9
end

local function check_queue_pair(p, item)
  if is_endpoint(p.opcode) then
    if p.dqp ~= ENDPOINT_QP then
      item:add_proto_expert_info(e.reserved_qp,
        string.format("endpoint packets go to queue pair %d", ENDPOINT_QP))
    end
  elseif p.dqp <= ENDPOINT_QP then
    item:add_proto_expert_info(e.reserved_qp, string.format("queue pair %d is reserved", p.dqp))
  end
end

local function add_bth(p)
  local tree, bytes = take_header(p, "BTH")
  if not tree then
    return false
  end
  local flags, request_flags = bytes:range(1, 1), bytes:range(8, 1)
  p.dqp = bytes:range(5, 3):uint()
  p.psn = bytes:range(9, 3):uint()
  p.pad = flags:bitfield(2, 2)
  p.retransmission = request_flags:bitfield(2, 1) == 1
  p.has_timestamp = request_flags:bitfield(3, 1) == 1

  tree:add(f.opcode, bytes:range(0, 1))
  tree:add(f.se, flags)
  tree:add(f.m, flags)
  tree:add(f.pad, flags)
  local version_item = tree:add(f.tver, flags)
  if flags:bitfield(4, 4) ~= 0 then
    version_item:add_proto_expert_info(e.tver)
  end
  tree:add(f.pkey, bytes:range(2, 2))
  check_queue_pair(p, tree:add(f.dqp, bytes:range(5, 3)))
  tree:add(f.ackreq, request_flags)
  tree:add(f.rtx, request_flags)
  tree:add(f.ts, request_flags)
  tree:add(f.psn, bytes:range(9, 3))
  if is_endpoint(p.opcode) then
    tree:add(f.ep_id, bytes:range(10, 2))
  end
  return true
end

local function add_meth(p)
  local tree, bytes = take_header(p, "METH")
  if not tree then
    return false
  end
  tree:add(f.meth_rqmsn, bytes:range(0, 2))
  tree:add(f.meth_msn, bytes:range(2, 2))
  say(p, "msn %d", bytes:range(2, 2):uint())
  return true
end

local function add_tseth(p)
  local tree, bytes = take_header(p, "TSETH")
  if not tree then
    return false
  end
  add_transmit_time(tree, bytes, f.tseth_timestamp, f.tseth_tsr, f.tseth_ftype)
  return true
end

local function add_reth(p)
  local tree, bytes = take_header(p, "RETH", true)
  if not tree then
    return false
  end
  tree:add(f.reth_va, bytes:range(0, 8))
  tree:add(f.reth_rkey, bytes:range(8, 4))
  tree:add(f.reth_dmalen, bytes:range(12, 4))
  p.va = bytes:range(0, 8):uint64():tohex()
  return true
end

local function add_immdt(p)
  local tree, bytes = take_header(p, "ImmDt", true)
  if not tree then
    return false
  end
  tree:add(f.immdt, bytes)
  return true
end

-- How many bytes the payload and its pad take on the wire, also when fewer were captured.
local function wire_bytes_left(p)
  return math.max(p.wire_length - SIZE.ICRC - p.pos, 0)
end

-- The pad count as far as it can be true.
local function checked_pad(p)
  local on_wire = wire_bytes_left(p)
  if p.pad <= on_wire then
    return p.pad
  end
  p.tree:add_proto_expert_info(e.pad,
    string.format("pad count is %d, %d bytes there", p.pad, on_wire))
  return 0
end

local function add_payload(p)
  local length = wire_bytes_left(p) - checked_pad(p)
  if length == 0 then
    p.tree:add_proto_expert_info(e.no_payload)
  end
  local captured = math.min(length, math.max(p.stop - p.pos, 0))
  if captured > 0 then
    p.tree:add(f.payload, p.tvb:range(p.pos, captured))
    p.pos = p.pos + captured
  end
  p.tree:add(f.payload_len, length):set_generated()
  if p.stop > p.pos then
    p.tree:add(f.padding, p.tvb:range(p.pos, p.stop - p.pos))
    p.pos = p.stop
  end
  return length
end

local function say_write_details(p, length)
  if length then
    say(p, "len %d", length)
  end
  if p.va then
    say(p, "va 0x%s", p.va)
  end
  if p.retransmission then
    say(p, "rtx")
  end
  if p.has_timestamp then
    say(p, "ts")
  end
end

local WITH_IMMEDIATE = { [0xC9] = true, [0xCB] = true }

local function add_write(p)
  say(p, "qp 0x%06x psn %d", p.dqp, p.psn)
  local whole = add_meth(p)
    and (not p.has_timestamp or add_tseth(p))
    and add_reth(p)
    and (not WITH_IMMEDIATE[p.opcode] or add_immdt(p))
  say_write_details(p, whole and not p.trimmed and add_payload(p))
end

local function describe_syndrome(syndrome)
  local kind, value = bits.rshift(syndrome, 5), syndrome % 32
  if kind == 0 then
    return "ACK", value == AETH_NO_CREDIT and "no credit count" or "credit code " .. value
  elseif kind == 1 then
    return "RNR NAK", "timer code " .. value
  elseif kind == 3 then
    local reason = AETH_NAK_NAME[value] or "reserved code " .. value
    return "NAK " .. reason, reason
  end
  return "ACK/NAK reserved", "reserved"
end

local function add_aeth(p)
  local tree, bytes = take_header(p, "AETH")
  if not tree then
    return
  end
  local short, long = describe_syndrome(bytes:range(0, 1):uint())
  tree:add(f.aeth_syndrome, bytes:range(0, 1)):append_text(string.format(" (%s)", long))
  tree:add(f.aeth_msn, bytes:range(1, 3))
  p.words = { short }
  say(p, "psn %d msn %d qp 0x%06x", p.psn, bytes:range(1, 3):uint(), p.dqp)
end

-- Bytes 0-3 of SETH: the mark, and either the PSN or the probe that made the responder speak.
local function add_sack_trigger(p, tree, bytes, cack_psn)
  local flags, trigger = bytes:range(1, 1), bytes:range(2, 2)
  local mark = flags:bitfield(1, 2)
  local item = tree:add(f.sack_mark, flags)
  if mark == MARK_RESERVED then
    item:add_proto_expert_info(e.mark)
  end
  tree:add(f.sack_pr, flags)
  if flags:bitfield(6, 1) == 1 then
    tree:add(f.sack_probe_id, trigger)
    say(p, "probe %d", trigger:uint())
  else
    tree:add(f.sack_ack_psn_offset, trigger)
    tree:add(f.sack_ack_psn, trigger, wrap_psn(cack_psn + trigger:int())):set_generated()
    say(p, "trigger %+d", trigger:int())
  end
  if mark ~= 0 then
    say(p, "mark %s", MARK_NAME[mark])
  end
end

local function add_sack_bitmap(p, tree, bytes, cack_psn)
  local offset, bitmap = bytes:range(18, 2), bytes:range(20, 8)
  tree:add(f.sack_sack_offset, offset)
  tree:add(f.sack_bitmap_base, offset, wrap_psn(cack_psn + offset:int())):set_generated()
  tree:add(f.sack_bitmap, bitmap)
  say(p, "bitmap 0x%s", bitmap:uint64():tohex())
end

local function add_seth(p)
  local tree, bytes = take_header(p, "SETH")
  if not tree then
    return false
  end
  local cack_psn = bytes:range(13, 3):uint()
  say(p, "cack %d", cack_psn)
  add_sack_trigger(p, tree, bytes, cack_psn)
  tree:add(f.sack_entropy, bytes:range(4, 4))
  tree:add(f.sack_spdcid, bytes:range(8, 2))
  tree:add(f.sack_dpdcid, bytes:range(10, 2))
  check_bth_psn(p, tree:add(f.sack_cack_psn, bytes:range(13, 3)), cack_psn)
  tree:add(f.sack_cc_type, bytes:range(16, 1))
  tree:add(f.sack_cc_flags, bytes:range(16, 1))
  tree:add(f.sack_mpr, bytes:range(17, 1))
    :append_text(string.format(" (%d PSNs)", bytes:range(17, 1):uint() * MPR_UNIT))
  add_sack_bitmap(p, tree, bytes, cack_psn)
  say(p, "qp 0x%06x", p.dqp)
  return true
end

local function add_cc_state(p)
  local tree, bytes = take_header(p, "CC_STATE")
  if not tree then
    return
  end
  tree:add(f.cc_timestamp, bytes:range(0, 2))
  tree:add(f.cc_ooo_count, bytes:range(2, 2))
  tree:add(f.cc_restore_cwnd, bytes:range(4, 1))
  tree:add(f.cc_rcv_cwnd_pen, bytes:range(4, 1))
  tree:add(f.cc_rcvd_bytes, bytes:range(5, 3))
    :append_text(string.format(" (%d bytes)", bytes:range(5, 3):uint() * RCVD_BYTES_UNIT))
end

local function add_sack(p)
  if add_seth(p) then
    add_cc_state(p)
  end
end

local function add_nack(p)
  local tree, bytes = take_header(p, "NETH")
  if not tree then
    return
  end
  local reason, psn = bytes:range(2, 1):uint(), bytes:range(13, 3):uint()
  local reason_item = tree:add(f.nack_reason, bytes:range(2, 1))
  if not NACK_NAME[reason] then
    reason_item:add_proto_expert_info(e.nack_reason)
  end
  tree:add(f.nack_vendor_info, bytes:range(3, 1))
  tree:add(f.nack_entropy, bytes:range(4, 4))
  tree:add(f.nack_spdcid, bytes:range(8, 2))
  tree:add(f.nack_dpdcid, bytes:range(10, 2))
  check_bth_psn(p, tree:add(f.nack_psn, bytes:range(13, 3)), psn)
  tree:add(f.nack_cc_type, bytes:range(16, 1))
  tree:add(f.nack_cc_flags, bytes:range(16, 1))
  tree:add(f.nack_timestamp, bytes:range(18, 2))
  say(p, "%s", NACK_NAME[reason] or string.format("reason 0x%02x", reason))
  say(p, "psn %d ev 0x%08x qp 0x%06x", psn, bytes:range(4, 4):uint(), p.dqp)
end

local function add_probe(p)
  local tree, bytes = take_header(p, "PETH")
  if not tree then
    return
  end
  tree:add(f.probe_vendor_info, bytes:range(3, 1))
  tree:add(f.probe_id, bytes:range(4, 2))
  tree:add(f.probe_spdcid, bytes:range(8, 2))
  tree:add(f.probe_dpdcid, bytes:range(10, 2))
  add_transmit_time(tree, bytes:range(12, 4), f.probe_timestamp, f.probe_tsr, f.probe_ftype)
  say(p, "id %d qp 0x%06x", bytes:range(4, 2):uint(), p.dqp)
end

local function add_endpoint_request(p)
  local tree, bytes = take_header(p, "ERTH")
  if not tree then
    return
  end
  local op = bytes:range(1, 1):bitfield(6, 2)
  tree:add(f.epreq_op, bytes:range(1, 1))
  tree:add(f.epreq_vendor_info, bytes:range(3, 1))
  tree:add(f.epreq_port_status_mask, bytes:range(4, 4))
  add_transmit_time(tree, bytes:range(12, 4), f.epreq_timestamp, f.epreq_tsr, f.epreq_ftype)
  say(p, "%s id %d", ENDPOINT_OP_NAME[op], p.psn % 0x10000)
  if op == 0 then
    say(p, "ports 0x%08x", bytes:range(4, 4):uint())
  end
end

local function add_endpoint_response(p)
  local tree, bytes = take_header(p, "EETH")
  if not tree then
    return
  end
  tree:add(f.eprsp_op, bytes:range(1, 1))
  tree:add(f.eprsp_timestamp, bytes:range(28, 2))
  say(p, "%s id %d", ENDPOINT_OP_NAME[bytes:range(1, 1):bitfield(4, 2)], p.psn % 0x10000)
end

local BODY = {
  [0xC6] = { word = "WRITE First", add = add_write },
  [0xC7] = { word = "WRITE Middle", add = add_write },
  [0xC8] = { word = "WRITE Last", add = add_write },
  [0xC9] = { word = "WRITE Last+Imm", add = add_write },
  [0xCA] = { word = "WRITE Only", add = add_write },
  [0xCB] = { word = "WRITE Only+Imm", add = add_write },
  [0xD1] = { word = "ACK", add = add_aeth },
  [0xD8] = { word = "ENDPOINT REQUEST", add = add_endpoint_request },
  [0xD9] = { word = "ENDPOINT RESPONSE", add = add_endpoint_response },
  [0xDC] = { word = "SACK", add = add_sack },
  [0xDD] = { word = "NACK", add = add_nack },
  [0xDE] = { word = "PROBE", add = add_probe },
}

---------------------------------------------------------------------------------------------------
-- What the packet says apart from its headers
---------------------------------------------------------------------------------------------------

-- Lists the micro-segments of one 128-bit container (32-bit block, six 16-bit uSIDs). A switch
-- shifts its own uSID out, so the first is the active one and zeros behind the last are filler.
local function add_usids(tree, field, address, first_note)
  local hop = 0
  for at = 4, 14, 2 do
    local usid = address:range(at, 2)
    if usid:uint() ~= 0 then
      hop = hop + 1
      local note = hop == 1 and first_note or ""
      tree:add(field, usid)
        :set_text(string.format("Hop %d: uSID 0x%04x%s", hop, usid:uint(), note))
        :set_generated()
    end
  end
end

local function lies_in(info, header)
  return info.offset >= header.offset and info.offset + info.len <= header.offset + header.len
end

-- The routing header holds the container that becomes the destination when this one is used up.
local function add_srh(tree, routing)
  local state = "already the destination"
  for _, info in ipairs({ get_segments_left() }) do
    if lies_in(info, routing) and info.value > 0 then
      state = "taken up when the list above is used up"
    end
  end
  for _, info in ipairs({ get_segment() }) do
    if lies_in(info, routing) and info.len == 16 then
      local segment = tree:add(info.range, "SRH segment, " .. state):set_generated()
      add_usids(segment, f.srv6_srh_usid, info.range, "")
    end
  end
end

local function add_srv6_path(p)
  local outer, routing = srv6_encapsulation(p.layers)
  if not outer then
    return
  end
  local destination = outer.range:range(24, 16)
  local tree = p.tree:add(destination, "SRv6 path"):set_generated()
  tree:add(f.srv6_block, destination:range(0, 4)):set_generated()
  add_usids(tree, f.srv6_usid, destination, " (active)")
  if routing then
    add_srh(tree, routing)
  end
end

local function add_entropy(p, source_port)
  local inner = p.layers[#p.layers]
  local high = 0
  if inner and inner.version == 6 then
    high = inner.range:range(2, 2):uint()
  end
  p.tree:add(f.ev, high * 0x10000 + source_port):set_generated()
end

-- Switches rewrite the outermost header, so that is where a trim shows.
local function add_trim(p)
  local outermost = p.layers[1]
  local dscp = outermost and dscp_of(outermost)
  local lasthop = dscp == mrc.prefs.dscp_trimmed_lasthop
  p.trimmed = lasthop or dscp == mrc.prefs.dscp_trimmed
  p.tree:add(f.trimmed, p.trimmed):set_generated()
  if p.trimmed then
    p.tree:add(f.trim_lasthop, lasthop):set_generated()
  end
end

local function is_control(opcode)
  return BODY[opcode] ~= nil and BODY[opcode].add ~= add_write
end

-- Shows the bytes that no header took. Control packets have no payload, so they end here.
local function add_rest(p)
  local should_end = is_control(p.opcode) and not p.cut and not p.trimmed
  if should_end then
    checked_pad(p)
  end
  local count = p.stop - p.pos
  if count <= 0 then
    return
  end
  local item = p.tree:add(p.trimmed and f.trim_rest or f.leftover, p.tvb:range(p.pos, count))
  if should_end then
    item:add_proto_expert_info(e.after_control,
      string.format("%d bytes after the control header", count))
  end
end

local function add_icrc(p)
  local at = p.wire_length - SIZE.ICRC
  if at < SIZE.BTH then
    p.tree:add_proto_expert_info(e.truncated, string.format(
      "truncated header: ICRC needs %d bytes, %d there", SIZE.ICRC, p.wire_length - SIZE.BTH))
    return
  elseif p.tvb:len() < p.wire_length then
    return  -- it was sent, but is not here
  end
  local bytes = p.tvb:range(at, SIZE.ICRC)
  local item = p.tree:add_le(f.icrc, bytes)
  local expected = mrc.prefs.check_icrc and compute_icrc(p.layers[#p.layers], p.udp, p.tvb)
  if not expected then
    return
  end
  local good = expected == bytes:le_uint()
  p.tree:add(f.icrc_status, bytes, good and ICRC_GOOD or ICRC_BAD):set_generated()
  if not good then
    item:add_proto_expert_info(e.icrc, string.format("bad ICRC, should be 0x%08x", expected))
    say(p, "[bad ICRC]")
  end
end

local function add_body(p)
  local body = BODY[p.opcode]
  if not body then
    p.tree:add_proto_expert_info(e.unknown_opcode,
      string.format("unknown MRC opcode 0x%02x", p.opcode))
    say(p, "qp 0x%06x psn %d", p.dqp, p.psn)
    return
  end
  body.add(p)
end

---------------------------------------------------------------------------------------------------
-- Dissection of one packet
---------------------------------------------------------------------------------------------------

-- Where the headers and the payload end: at the ICRC, except that a trimmed packet has none.
local function body_end(p)
  if p.trimmed then
    return p.tvb:len()
  end
  return math.max(math.min(p.tvb:len(), p.wire_length - SIZE.ICRC), SIZE.BTH)
end

local function dissect_mrc(tvb, pinfo, root)
  local opcode = tvb:range(0, 1):uint()
  local word = BODY[opcode] and BODY[opcode].word or string.format("opcode 0x%02x", opcode)
  local udp = innermost_udp()
  local p = {
    tvb = tvb, wire_length = wire_length(tvb, udp), tree = root:add(mrc, tvb:range()),
    layers = ip_layers(), udp = udp, opcode = opcode,
    pos = 0, stop = tvb:len(), trimmed = false, cut = false, words = { word },
  }
  add_srv6_path(p)
  add_entropy(p, pinfo.src_port)
  add_trim(p)
  if add_bth(p) then
    p.stop = body_end(p)
    add_body(p)
    add_rest(p)
    if p.trimmed then
      say(p, "[trimmed]")
    else
      add_icrc(p)
    end
  end
  local summary = table.concat(p.words, " ")
  p.tree:append_text(", " .. summary)
  pinfo.cols.protocol:set("MRC")
  pinfo.cols.info:set(summary)
  return tvb:len()
end

---------------------------------------------------------------------------------------------------
-- Which packets are ours
---------------------------------------------------------------------------------------------------

local udp_ports = DissectorTable.get("udp.port")
local claimed = {}  -- port -> dissector that had it before, or false

local function has_mrc_opcode(tvb)
  return tvb:len() > 0 and tvb:range(0, 1):bitfield(0, 3) == 6  -- 0b110
end

-- False for a packet that only happens to come FROM one of our ports: the source port is entropy.
-- A port that the user gave us with Decode As counts as ours.
local function goes_to_mrc(pinfo)
  return claimed[pinfo.dst_port] ~= nil or pinfo.match ~= pinfo.src_port
end

function mrc.dissector(tvb, pinfo, root)
  if has_mrc_opcode(tvb) and goes_to_mrc(pinfo) then
    return dissect_mrc(tvb, pinfo, root)
  end
  local previous = claimed[pinfo.match]
  if not previous then
    return 0
  end
  -- An exception in it has put "Malformed Packet" into the tree by the time it reaches us.
  local fine, length = pcall(previous.call, previous, tvb, pinfo, root)
  return fine and length or tvb:len()
end

local function claim(port)
  if port > 0 and claimed[port] == nil then
    claimed[port] = udp_ports:get_dissector(port) or false
    udp_ports:add(port, mrc)
  end
end

local function release_all()
  for port, previous in pairs(claimed) do
    udp_ports:remove(port, mrc)
    if previous then
      udp_ports:add(port, previous)
    end
  end
  claimed = {}
end

local function claim_ports()
  release_all()
  claim(mrc.prefs.port)
  claim(mrc.prefs.second_port)
end

mrc.prefs_changed = claim_ports
claim_ports()

mrc:register_heuristic("udp", function(tvb, pinfo, root)
  if claimed[pinfo.dst_port] == nil or not has_mrc_opcode(tvb) then
    return false
  end
  dissect_mrc(tvb, pinfo, root)
  return true
end)
