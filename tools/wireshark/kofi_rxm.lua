-- SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
--
-- Dissector of the packets of libfabric's rxm, which kofi_rxm speaks (Documentation/wire-rxm.rst),
-- for Wireshark and tshark.  Over tcp kofi.lua finds them, by the connection data:
--
--	tshark -X lua_script:tools/wireshark/kofi_rxm.lua -X lua_script:tools/wireshark/kofi.lua \
--		-r FILE -Y kofi_rxm
--
-- What is not as it should be has the field kofi_rxm.bad; kofi_rxm.what says in words what a packet
-- is.  Fields that a kind of packet does not use are left out, as libfabric leaves old values there.
--
-- A packet is in the byte order of its sender, which kofi.lua says in pinfo.private.

local rxm = Proto("kofi_rxm", "libfabric rxm")

local HEADER = 64
local RANGES, RANGE_SIZE = 4, 24

local EAGER, SEG, OFFER, READ, ATOMIC, RESPONSE, CREDIT, WRITE, WRITTEN = 0, 1, 2, 3, 4, 5, 6, 7, 8
local LEAVE, STAY = 64, 65
local types = {
	[EAGER] = "message", [SEG] = "segment", [OFFER] = "offer", [READ] = "answer to an offer",
	[ATOMIC] = "atomic operation", [RESPONSE] = "response", [CREDIT] = "credits",
	[WRITE] = "answer that asks for a write", [WRITTEN] = "write done",
	[LEAVE] = "request to leave", [STAY] = "refusal to let leave",
}
local seg_types = { [1] = "first", [2] = "middle", [3] = "last" }
local MSG, TAGGED, BASE, FETCH, COMPARE = 0, 1, 6, 7, 8
local ops = {
	[MSG] = "message", [TAGGED] = "tagged message", [BASE] = "atomic",
	[FETCH] = "fetching atomic", [COMPARE] = "comparing atomic",
}
local CQ_DATA = 0x20000

local f = {
	what		= ProtoField.string("kofi_rxm.what", "What it is"),
	version		= ProtoField.uint8("kofi_rxm.version", "Version"),
	type		= ProtoField.uint8("kofi_rxm.type", "Kind", base.DEC, types),
	seg_size	= ProtoField.uint16("kofi_rxm.seg_size", "Bytes of the segment"),
	seg_no		= ProtoField.uint32("kofi_rxm.seg_no", "Number of the segment"),
	conn_id		= ProtoField.uint64("kofi_rxm.conn_id", "Connection", base.HEX),
	msg_id		= ProtoField.uint64("kofi_rxm.msg_id", "Message", base.HEX),
	seg_type	= ProtoField.uint8("kofi_rxm.seg_type", "Place of the segment", base.DEC,
					   seg_types, 0x3),
	credits		= ProtoField.uint64("kofi_rxm.credits", "Packets that may be sent"),
	op_version	= ProtoField.uint8("kofi_rxm.op.version", "Version of the operation"),
	op		= ProtoField.uint8("kofi_rxm.op", "Operation", base.DEC, ops),
	flags		= ProtoField.uint32("kofi_rxm.flags", "Flags", base.HEX),
	size		= ProtoField.uint64("kofi_rxm.size", "Bytes of the message"),
	cq_data		= ProtoField.uint64("kofi_rxm.cq_data", "Remote CQ data", base.HEX),
	tag		= ProtoField.uint64("kofi_rxm.tag", "Tag", base.HEX),
	datatype	= ProtoField.uint8("kofi_rxm.datatype", "Type of the elements"),
	atomic_op	= ProtoField.uint8("kofi_rxm.atomic_op", "Atomic operation"),
	count		= ProtoField.uint8("kofi_rxm.count", "Number of ranges"),
	range		= ProtoField.none("kofi_rxm.range", "Range"),
	addr		= ProtoField.uint64("kofi_rxm.range.addr", "Address", base.HEX),
	len		= ProtoField.uint64("kofi_rxm.range.len", "Bytes, or elements"),
	key		= ProtoField.uint64("kofi_rxm.range.key", "Key", base.HEX),
	status		= ProtoField.int32("kofi_rxm.status", "Status"),
	result_len	= ProtoField.uint32("kofi_rxm.result_len", "Bytes of old values"),
	payload		= ProtoField.bytes("kofi_rxm.payload", "Payload"),
}
rxm.fields = {}
for _, field in pairs(f) do
	table.insert(rxm.fields, field)
end

local bad = ProtoExpert.new("kofi_rxm.bad", "Not as the wire of libfabric's rxm has it",
			    expert.group.PROTOCOL, expert.severity.ERROR)
rxm.experts = { bad }

local function complain(tree, text)
	tree:add_proto_expert_info(bad, text)
end

-- dissect_ranges: those of an offer or an atomic operation; returns the sum of their lengths
local function dissect_ranges(tvb, tree, add, little, count)
	local sum = UInt64(0)

	if count < 1 or count > RANGES then
		complain(tree, count .. " ranges")
		return sum
	end
	for i = 0, count - 1 do
		local at = HEADER + i * RANGE_SIZE
		local range = tree:add(f.range, tvb(at, RANGE_SIZE))
		local len = tvb(at + 8, 8)

		add(range, f.addr, tvb(at, 8))
		add(range, f.len, len)
		add(range, f.key, tvb(at + 16, 8))
		sum = sum + (little and len:le_uint64() or len:uint64())
	end
	return sum
end

local function describe(type, op, flags, seg)
	local what = types[type] or "kind " .. type

	if type == SEG or type == OFFER then
		what = what .. " of a " .. (ops[op] or "?")
	elseif type == EAGER then
		what = ops[op] or what
	elseif type == ATOMIC then
		what = (ops[op] or "?") .. " operation"
	end
	if type == SEG then
		what = what .. ", " .. (seg_types[seg] or "no place")
	end
	if flags >= CQ_DATA and math.floor(flags / CQ_DATA) % 2 == 1 and type <= ATOMIC and
	    type ~= READ then
		what = what .. ", CQ data"
	end
	return what
end

function rxm.dissector(tvb, pinfo, root)
	if tvb:len() < HEADER then
		complain(root:add(rxm, tvb()), "a header that is cut")
		return tvb:len()
	end
	local little = pinfo.private.kofi_big == nil
	local tree = root:add(rxm, tvb())
	local add = little and tree.add_le or tree.add
	local number = function(at, size)
		return little and tvb(at, size):le_uint() or tvb(at, size):uint()
	end
	local number64 = function(at)
		return little and tvb(at, 8):le_uint64() or tvb(at, 8):uint64()
	end
	local type, op, flags = tvb(1, 1):uint(), tvb(34, 1):uint(), number(36, 4)
	local seg, payload = tvb(24, 1):uint() % 4, tvb:len() - HEADER
	local what = describe(type, op, flags, seg)
	local message = type == EAGER or type == SEG or type == OFFER

	tree:add(f.what, what):set_generated()
	tree:append_text(", " .. what)
	tree:add(f.version, tvb(0, 1))
	tree:add(f.type, tvb(1, 1))
	add(tree, f.conn_id, tvb(8, 8))
	if type ~= EAGER then
		add(tree, f.msg_id, tvb(16, 8))
	end
	if type == SEG then
		add(tree, f.seg_size, tvb(2, 2))
		add(tree, f.seg_no, tvb(4, 4))
		tree:add(f.seg_type, tvb(24, 1))
	elseif type == CREDIT then
		add(tree, f.credits, tvb(24, 8))
	end
	tree:add(f.op_version, tvb(32, 1))
	if message or type == ATOMIC or type == RESPONSE then
		tree:add(f.op, tvb(34, 1))
		add(tree, f.size, tvb(40, 8))
	end
	if message or type == ATOMIC then
		add(tree, f.flags, tvb(36, 4))
		if math.floor(flags / CQ_DATA) % 2 == 1 then
			add(tree, f.cq_data, tvb(48, 8))
		end
	end
	if message and op == TAGGED then
		add(tree, f.tag, tvb(56, 8))
	end

	if tvb(0, 1):uint() ~= 4 then
		complain(tree, "version " .. tvb(0, 1):uint())
	end
	if tvb(32, 1):uint() ~= 2 then
		complain(tree, "version " .. tvb(32, 1):uint() .. " of the operation")
	end
	if not types[type] then
		complain(tree, "kind " .. type)
	elseif message and op ~= MSG and op ~= TAGGED then
		complain(tree, "operation " .. op)
	elseif (type == ATOMIC or type == RESPONSE) and (op < BASE or op > COMPARE) then
		complain(tree, "operation " .. op)
	end

	if type == EAGER and number64(40) ~= UInt64(payload) then
		complain(tree, "a message of " .. tostring(number64(40)) .. " bytes")
	elseif type == SEG and (number(2, 2) ~= payload or not seg_types[seg] or
				(seg == 1) ~= (number(4, 4) == 0)) then
		complain(tree, "segment")
	elseif (type == OFFER or type == WRITE) and payload == 104 then
		local sum = dissect_ranges(tvb, tree, add, little, tvb(HEADER + 96, 1):uint())

		tree:add(f.count, tvb(HEADER + 96, 1))
		if type == OFFER and sum ~= number64(40) then
			complain(tree, "ranges of " .. tostring(sum) .. " bytes")
		end
	elseif type == OFFER or type == WRITE then
		complain(tree, payload .. " bytes in place of 104")
	elseif type == ATOMIC and payload >= 96 then
		tree:add(f.datatype, tvb(56, 1))
		tree:add(f.atomic_op, tvb(57, 1))
		tree:add(f.count, tvb(58, 1))
		dissect_ranges(tvb, tree, add, little, tvb(58, 1):uint())
	elseif type == RESPONSE and payload >= 8 then
		tree:add(f.status, tvb(HEADER, 4))
		tree:add(f.result_len, tvb(HEADER + 4, 4))
		if tvb(HEADER + 4, 4):uint() ~= payload - 8 then
			complain(tree, "result of " .. (payload - 8) .. " bytes")
		end
	elseif type == ATOMIC or type == RESPONSE then
		complain(tree, "a header that is cut")
	elseif type == CREDIT and number64(24) == UInt64(0) then
		complain(tree, "a grant of nothing")
	elseif (type == READ or type == CREDIT or type == WRITTEN) and payload > 0 then
		complain(tree, "payload where none is due")
	end
	if payload > 0 then
		tree:add(f.payload, tvb(HEADER))
	end
	pinfo.cols.info = "rxm: " .. what
	return tvb:len()
end
