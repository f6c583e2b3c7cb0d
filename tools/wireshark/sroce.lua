-- SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
--
-- Wireshark dissector for what sroce adds to RoCEv2 (Documentation/wire.md).
--
-- Wireshark's own dissector has decoded the standard headers before this one runs. It knows neither
-- selective ACK nor CNP, and checks no length. Wireshark 4.0 does not know FLUSH, ATOMIC WRITE and
-- XRC either. A packet that sroce's parser drops gets an error with the name of its counter.
-- Wireshark 4.0 has Lua 5.2, which has no operators for bits.

local OFFER, ACCEPT = 0x54, 0x24
local CNP, SACK = 0x81, 0xd1
local BTH_BYTES, XRCETH_BYTES, FETH_BYTES, AETH_BYTES, ICRC_BYTES = 12, 4, 4, 4, 4
local UDP_BYTES = 8

local sroce = Proto("sroce", "sroce, additions to RoCEv2")
local fields = {
	offer = ProtoField.uint8("sroce.offer", "Selective repeat", base.HEX,
		{ [OFFER] = "offered, version 1" }, 0x7f),
	accept = ProtoField.uint8("sroce.accept", "Selective repeat", base.HEX,
		{ [ACCEPT] = "accepted, version 1" }, 0x7f),
	syndrome = ProtoField.uint8("sroce.sack.syndrome", "Syndrome", base.HEX),
	msn = ProtoField.uint24("sroce.sack.msn", "Message Sequence Number"),
	bitmap = ProtoField.bytes("sroce.sack.bitmap", "Bitmap"),
	psn = ProtoField.uint24("sroce.sack.psn", "Queued PSN"),
	reserved = ProtoField.bytes("sroce.cnp.reserved", "Reserved"),
	placement = ProtoField.uint8("sroce.feth.placement", "Placement type", base.DEC,
		{ "global visibility", "persistence", "global visibility and persistence" }, 0x0f),
	level = ProtoField.uint8("sroce.feth.level", "Selectivity level", base.DEC,
		{ [0] = "range", "memory region" }, 0x30),
	va = ProtoField.uint64("sroce.reth.va", "Virtual address", base.HEX),
	rkey = ProtoField.uint32("sroce.reth.rkey", "Remote key", base.HEX),
	dma_length = ProtoField.uint32("sroce.reth.length", "DMA length"),
	srqn = ProtoField.uint24("sroce.xrceth.srqn", "XRC shared receive queue", base.HEX),
	icrc = ProtoField.uint32("sroce.icrc", "Invariant CRC", base.HEX),
}
local drop = ProtoExpert.new("sroce.drop", "sroce drops this packet", expert.group.PROTOCOL,
	expert.severity.ERROR)
sroce.fields = fields
sroce.experts = { drop }

local opcode_field = Field.new("infiniband.bth.opcode")
local payload_field = Field.new("udp.payload")
local length_field = Field.new("udp.length")

-- BTH and extended headers of each opcode that sroce understands.
local header_bytes = {}
for bytes, opcodes in pairs({
	[12] = { 0x00, 0x01, 0x02, 0x04, 0x07, 0x08, 0x0e, 0x15, 0x18, 0x19, 0x1a, 0x1b, 0x1e,
		 0x1f, 0x20, 0x21, 0x22, 0x24, 0x27, 0x28, 0xae, 0xb5, 0xb8, 0xb9, 0xba, 0xbb,
		 0xbe, 0xbf, CNP },
	[16] = { 0x03, 0x05, 0x09, 0x0d, 0x0f, 0x10, 0x11, 0x16, 0x17, 0x23, 0x25, 0x29, 0xa0,
		 0xa1, 0xa2, 0xa4, 0xa7, 0xa8, 0xad, 0xaf, 0xb0, 0xb1, SACK },
	[20] = { 0x64, 0xa3, 0xa5, 0xa9, 0xb6, 0xb7 },
	[24] = { 0x12, 0x65, 0xb2 },
	[28] = { 0x06, 0x0a, 0x0c, 0x1d, 0x26, 0x2a },
	[32] = { 0x0b, 0x1c, 0x2b, 0xa6, 0xaa, 0xac, 0xbd },
	[36] = { 0xab, 0xbc },
	[40] = { 0x13, 0x14 },
	[44] = { 0xb3, 0xb4 },
}) do
	for _, opcode in ipairs(opcodes) do header_bytes[opcode] = bytes end
end

-- READ request, FLUSH, ACK and atomics have none; others up to the largest MTU.
local max_payload_bytes = {
	[0x0c] = 0, [0x11] = 0, [0x12] = 0, [0x13] = 0, [0x14] = 0, [0x1c] = 0,
	[0xac] = 0, [0xb1] = 0, [0xb2] = 0, [0xb3] = 0, [0xb4] = 0, [0xbc] = 0,
	[SACK] = 256,
}

local function is_response(opcode)
	return opcode >= 0x0d and opcode <= 0x12 or opcode >= 0xad and opcode <= 0xb2 or
		opcode == SACK
end

-- Wireshark's own dissector takes the header for payload.
local function has_xrceth(opcode)
	return opcode >= 0xa0 and opcode <= 0xbf and header_bytes[opcode] and
		not is_response(opcode) and header_bytes[opcode] > BTH_BYTES
end

-- Those of RC whose requests have a RETH, FLUSH with a FETH before it.
local FLUSH, ATOMIC_WRITE = 0x1c, 0x1d
local has_reth = { [0x06] = true, [0x0a] = true, [0x0b] = true, [0x0c] = true, [FLUSH] = true,
		   [ATOMIC_WRITE] = true }

-- The counter of a receiver that drops a packet of this length; or nil and its payload.
local function check_lengths(packet, bytes)
	if bytes < BTH_BYTES + ICRC_BYTES then return "drop_truncated" end
	local opcode, flags = packet(0, 1):uint(), packet(1, 1)
	local headers, most = header_bytes[opcode], max_payload_bytes[opcode] or 4096

	if flags:bitfield(4, 4) ~= 0 then return "drop_version" end
	if not headers then return "drop_opcode" end
	local body = bytes - headers - ICRC_BYTES
	if body < 0 then return "drop_truncated" end
	local payload = body - flags:bitfield(2, 2)
	if payload < 0 or body % 4 ~= 0 then return "drop_pad" end
	if payload > most or body > 0 and most == 0 then
		return "drop_payload, unless segmentation offload captured several packets as one"
	end
	return nil, payload
end

-- One item for each range of queued PSNs. Bit i of octet n is PSN + 1 + 8n + i.
local function add_queued_psns(tree, bitmap, psn)
	local range, first

	for n = 0, bitmap:len() - 1 do
		local octet = bitmap(n, 1)

		for i = 0, 7 do
			psn = (psn + 1) % 0x1000000
			if math.floor(octet:uint() / 2 ^ i) % 2 == 0 then
				range = nil
			else
				if not range then
					range, first = tree:add(octet, ""), psn
				end
				range:set_text(string.format("Queued: PSN %d to %d", first, psn))
				range:add(fields.psn, octet, psn)
			end
		end
	end
end

local function add_sack(tree, packet, payload_bytes)
	local bitmap_at = BTH_BYTES + AETH_BYTES
	local bitmap_bytes = math.min(payload_bytes, packet:len() - bitmap_at)

	if bitmap_bytes < 0 then return end
	tree:add(fields.syndrome, packet(BTH_BYTES, 1))
	tree:add(fields.msn, packet(BTH_BYTES + 1, 3))
	if bitmap_bytes == 0 then return end
	local bitmap = packet(bitmap_at, bitmap_bytes)
	add_queued_psns(tree:add(fields.bitmap, bitmap), bitmap, packet(9, 3):uint())
end

-- XRCETH, FETH and its RETH, and the RETH of XRC: Wireshark's own dissector does not know them.
local function add_request(tree, packet, opcode)
	local at, operation = BTH_BYTES, opcode % 0x20

	if has_xrceth(opcode) then
		tree:add(fields.srqn, packet(at + 1, 3))
		at = at + XRCETH_BYTES
	end
	if not has_reth[operation] then return end
	if operation == FLUSH then
		tree:add(fields.placement, packet(at + 3, 1))
		tree:add(fields.level, packet(at + 3, 1))
		at = at + FETH_BYTES
	end
	tree:add(fields.va, packet(at, 8))
	tree:add(fields.rkey, packet(at + 8, 4))
	tree:add(fields.dma_length, packet(at + 12, 4))
end

local function add_packet(tree, packet, bytes, pinfo)
	-- The capture has cut it off.
	if packet:len() < math.min(bytes, BTH_BYTES) then return end
	local opcode = packet(0, 1):uint()
	local name = opcode == SACK and "RC Selective Acknowledge" or opcode == CNP and "CNP"
	local reason, payload_bytes = check_lengths(packet, bytes)
	local is_acked = opcode < 0x20 or opcode >= 0xa0 and opcode < 0xc0 or opcode == SACK
	local is_unknown = opcode == FLUSH or opcode == ATOMIC_WRITE or has_xrceth(opcode)
	local is_request = not reason and is_unknown and packet:len() >= header_bytes[opcode]
	local bits = is_acked and packet:len() >= BTH_BYTES and packet(8, 1):bitfield(1, 7) or 0

	if not (name or reason or is_request or bits ~= 0) then return end
	tree = tree:add(sroce, packet)
	if reason then
		tree:add_proto_expert_info(drop, "sroce drops this packet: " .. reason)
	end
	if bits ~= 0 then
		tree:add(is_response(opcode) and fields.accept or fields.offer, packet(8, 1))
	end
	if is_request then add_request(tree, packet, opcode) end
	if reason or not name then return end
	tree:append_text(": " .. name)
	pinfo.cols.info = string.format("%s QP=0x%06x", name, packet(5, 3):uint())
	if opcode == SACK then
		add_sack(tree, packet, payload_bytes)
	elseif payload_bytes > 0 and packet:len() >= BTH_BYTES + payload_bytes then
		tree:add(fields.reserved, packet(BTH_BYTES, payload_bytes))
	end
	if packet:len() == bytes then
		tree:add_le(fields.icrc, packet(bytes - ICRC_BYTES, ICRC_BYTES))
	end
end

-- The field of this kind that begins at an offset. A frame has several with tunnels.
local function field_at(offset, ...)
	for _, field in ipairs({ ... }) do
		if field.offset == offset then return field end
	end
end

function sroce.dissector(_, pinfo, tree)
	for _, opcode in ipairs({ opcode_field() }) do
		local payload = field_at(opcode.offset, payload_field())
		local length = payload and field_at(opcode.offset - 4, length_field())

		if length then
			add_packet(tree, payload.range, length.value - UDP_BYTES, pinfo)
		end
	end
end

register_postdissector(sroce)
