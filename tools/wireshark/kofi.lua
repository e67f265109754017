-- SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
--
-- Dissector of the wire of libfabric's tcp provider, which kofi_tcp speaks
-- (Documentation/wire-tcp.rst), for Wireshark and tshark:
--
--	tshark -X lua_script:tools/wireshark/kofi.lua -r FILE -Y kofi
--
-- What endpoints of rxm send is in the messages (kofi_rxm.lua), if the connection data say so.
--
-- A connection is recognized by its first message, on any port.  What is not as it
-- should be has the field kofi.bad; kofi.what says in words what a message is.
--
-- The first message of each direction is connection management, the others are data.  So
-- a stream's state is where that first message is, and in which byte order each side
-- sends.  It is learnt in the first pass, which goes through the frames in order, and
-- then only read.

local kofi = Proto("kofi", "libfabric tcp")

local CM_SIZE = 32		-- of the header of connection management
local CM_DATA = 256		-- most bytes that follow it
local BASE_SIZE = 16		-- of what each data message begins with
local RANGE_SIZE = 24

local REQUEST, REPLY, REFUSAL, CONTEXT = 0, 1, 6, 128
local cm_types = {
	[REQUEST] = "request", [REPLY] = "reply", [REFUSAL] = "refusal",
	[CONTEXT] = "request to a receive context (kOFI)",
}

local MSG, TAGGED, READ, RESPONSE, WRITE, RTS, CTS, DATA, REFUSE = 0, 1, 2, 3, 4, 5, 6, 7, 8
local TAGGED_READ, TAGGED_WRITE = 9, 10
local ops = {
	[MSG] = "message", [TAGGED] = "tagged message", [READ] = "read request",
	[RESPONSE] = "response", [WRITE] = "write", [RTS] = "rendezvous request",
	[CTS] = "rendezvous clear to send", [DATA] = "rendezvous data",
	[REFUSE] = "refusal (kOFI)", [TAGGED_READ] = "tagged read (kOFI)",
	[TAGGED_WRITE] = "tagged write (kOFI)",
}
local reasons = { "no access", "target ended", "no receive", "receive too short" }
local ACK = 2			-- op_data of a MSG
local KOFI = 0x6b4f4649		-- message identifier of kOFI's requests and responses: "kOFI"

-- Flags
local CQ_DATA, DELIVERY, COMMIT, SAVE, LEAVE, OLD_TAGGED = 0x1, 0x4, 0x8, 0x10, 0x20, 0x80
local END_KEY, OF_RTS = 0x40, 0x2
local flags_known = 0x1 + 0x2 + 0x4 + 0x8 + 0x10 + 0x20 + 0x40 + 0x80

local f = {
	what		= ProtoField.string("kofi.what", "What it is"),
	cm_version	= ProtoField.uint8("kofi.cm.version", "Version"),
	cm_type		= ProtoField.uint8("kofi.cm.type", "Type", base.DEC, cm_types),
	cm_seg_size	= ProtoField.uint16("kofi.cm.seg_size", "Bytes of connection data"),
	cm_seg_no	= ProtoField.uint32("kofi.cm.seg_no", "Segment number"),
	cm_conn_id	= ProtoField.uint64("kofi.cm.conn_id", "Connection identifier"),
	cm_msg_id	= ProtoField.uint64("kofi.cm.msg_id", "Message identifier"),
	cm_conn_data	= ProtoField.uint64("kofi.cm.conn_data", "Byte order probe", base.HEX),
	cm_data		= ProtoField.bytes("kofi.cm.data", "Connection data"),
	version		= ProtoField.uint8("kofi.version", "Version"),
	op		= ProtoField.uint8("kofi.op", "Operation", base.DEC, ops),
	flags		= ProtoField.uint16("kofi.flags", "Flags", base.HEX),
	cq_data_flag	= ProtoField.bool("kofi.flags.cq_data", "Remote CQ data follow", 16, nil, CQ_DATA),
	delivery	= ProtoField.bool("kofi.flags.delivery", "Acknowledge", 16, nil, DELIVERY),
	commit		= ProtoField.bool("kofi.flags.commit",
					  "Commit to persistent memory and acknowledge", 16, nil, COMMIT),
	save		= ProtoField.bool("kofi.flags.save", "Save (kOFI)", 16, nil, SAVE),
	leave		= ProtoField.bool("kofi.flags.leave", "May be closed (kOFI)", 16, nil, LEAVE),
	end_key		= ProtoField.bool("kofi.flags.end_key", "Ends a key (kOFI)", 16, nil, END_KEY),
	old_tagged	= ProtoField.bool("kofi.flags.tagged", "Tag follows (1.13 to 1.17)", 16, nil,
					  OLD_TAGGED),
	op_data		= ProtoField.uint8("kofi.op_data", "Operation data"),
	count		= ProtoField.uint8("kofi.rma_iov_cnt", "Number of ranges"),
	hdr_size	= ProtoField.uint8("kofi.hdr_size", "Bytes of the header"),
	id		= ProtoField.uint8("kofi.id", "Number of the header"),
	size		= ProtoField.uint64("kofi.size", "Bytes of the message"),
	cq_data		= ProtoField.uint64("kofi.cq_data", "Remote CQ data", base.HEX),
	tag		= ProtoField.uint64("kofi.tag", "Tag", base.HEX),
	msg_len		= ProtoField.uint64("kofi.msg_len", "Bytes of the message to come"),
	range		= ProtoField.none("kofi.rma", "Range"),
	addr		= ProtoField.uint64("kofi.rma.addr", "Address", base.HEX),
	len		= ProtoField.uint64("kofi.rma.len", "Length"),
	key		= ProtoField.uint64("kofi.rma.key", "Key", base.HEX),
	payload		= ProtoField.bytes("kofi.payload", "Payload"),
}
kofi.fields = {}
for _, field in pairs(f) do
	table.insert(kofi.fields, field)
end

local bad = ProtoExpert.new("kofi.bad", "Not as the wire of libfabric's tcp has it",
			    expert.group.PROTOCOL, expert.severity.ERROR)
kofi.experts = { bad }

local tcp_stream = Field.new("tcp.stream")
local streams = {}

function kofi.init()
	streams = {}
end

local function side(pinfo)
	return tostring(pinfo.src) .. " " .. pinfo.src_port
end

-- stream_of: the state of this stream, and of the side that sends
local function stream_of(pinfo)
	local nr = tcp_stream().value
	local stream = streams[nr] or { sides = {} }
	local from = stream.sides[side(pinfo)] or {}

	streams[nr] = stream
	stream.sides[side(pinfo)] = from
	return stream, from
end

-- is_little: are data messages of this stream little-endian? If the sides differ, they
-- are in network byte order.
local function is_little(stream)
	local little = true

	for _, from in pairs(stream.sides) do
		if from.little == false then
			little = false
		end
	end
	return little
end

local function complain(tree, text)
	tree:add_proto_expert_info(bad, text)
end

local function has(flags, bit)
	return math.floor(flags / bit) % 2 == 1
end

local function dissect_cm(tvb, pinfo, tree, from)
	local type, len = tvb(1, 1):uint(), tvb(2, 2):uint()
	local le, be = tvb(24, 8):le_uint64(), tvb(24, 8):uint64()
	local what = "connection " .. (cm_types[type] or "type " .. type)

	if type ~= REFUSAL then
		from.little = le == UInt64(1)
	end
	local add = from.little == false and tree.add or tree.add_le
	tree:add(f.what, what):set_generated()
	tree:add(f.cm_version, tvb(0, 1))
	tree:add(f.cm_type, tvb(1, 1))
	tree:add(f.cm_seg_size, tvb(2, 2))
	add(tree, f.cm_seg_no, tvb(4, 4))
	add(tree, f.cm_conn_id, tvb(8, 8))
	add(tree, f.cm_msg_id, tvb(16, 8))
	add(tree, f.cm_conn_data, tvb(24, 8))
	if len > 0 then
		tree:add(f.cm_data, tvb(CM_SIZE, len))
	end
	-- Versions of rxm's connection data, packets and operations
	from.rxm = type == REQUEST and len == 24 and tvb(CM_SIZE, 1):uint() == 1 and
		   tvb(CM_SIZE + 2, 2):uint() == 0x403
	if tvb(0, 1):uint() ~= 3 then
		complain(tree, "version " .. tvb(0, 1):uint())
	end
	if not cm_types[type] then
		complain(tree, "type " .. type)
	end
	if len > CM_DATA then
		complain(tree, len .. " bytes of connection data")
	end
	if type ~= REFUSAL and le ~= UInt64(1) and be ~= UInt64(1) then
		complain(tree, "nothing that tells the byte order")
	end
	return what
end

-- describe: what a data message is, in words
local function describe(op, flags, op_data)
	local what = ops[op] or "operation " .. op

	if op == MSG and op_data == ACK then
		return "acknowledgment"
	end
	if op == REFUSE then
		local refused = has(flags, OF_RTS) and "n RTS" or
				has(flags, CQ_DATA) and " write" or " read"

		return "refusal of a" .. refused .. ", " ..
		       (reasons[op_data] or "reason " .. op_data)
	end
	if op == RESPONSE then	-- repeats the flags of its request
		return what
	end
	if has(flags, OLD_TAGGED) then
		what = what .. ", tag"
	end
	if has(flags, CQ_DATA) then
		what = what .. ", CQ data"
	end
	if has(flags, SAVE) then
		what = what .. ", save"
	end
	if has(flags, LEAVE) then
		what = what .. ", may be closed"
	end
	if has(flags, END_KEY) then
		what = what .. ", ends a key"
	end
	if has(flags, COMMIT) then
		what = what .. ", commit"
	end
	if has(flags, DELIVERY) then
		what = what .. ", acknowledge"
	end
	return what
end

local function dissect_data(tvb, pinfo, tree, little)
	local add = little and tree.add_le or tree.add
	local u16 = function(at) return little and tvb(at, 2):le_uint() or tvb(at, 2):uint() end
	local u64 = function(at) return little and tvb(at, 8):le_uint64() or tvb(at, 8):uint64() end
	local op, op_data, count = tvb(1, 1):uint(), tvb(4, 1):uint(), tvb(5, 1):uint()
	local flags, hdr_size = u16(2), tvb(6, 1):uint()
	local ack = op == MSG and op_data == ACK
	local ranges = op == READ or op == WRITE
	local what, at = describe(op, flags, op_data), BASE_SIZE

	tree:add(f.what, what):set_generated()
	tree:add(f.version, tvb(0, 1))
	tree:add(f.op, tvb(1, 1))
	local bits = add(tree, f.flags, tvb(2, 2))
	add(bits, f.cq_data_flag, tvb(2, 2))
	add(bits, f.delivery, tvb(2, 2))
	add(bits, f.commit, tvb(2, 2))
	add(bits, f.save, tvb(2, 2))
	add(bits, f.leave, tvb(2, 2))
	add(bits, f.end_key, tvb(2, 2))
	add(bits, f.old_tagged, tvb(2, 2))
	tree:add(f.op_data, tvb(4, 1))
	tree:add(f.count, tvb(5, 1))
	tree:add(f.hdr_size, tvb(6, 1))
	tree:add(f.id, tvb(7, 1))
	add(tree, f.size, tvb(8, 8))

	-- Does the header have room for this field?
	local function take(field, size)
		if at + size > hdr_size then
			return nil
		end
		local item = field and add(tree, field, tvb(at, size))
		at = at + size
		return item or true
	end

	local fits = true
	if has(flags, CQ_DATA) and not ack and op ~= RESPONSE and op ~= DATA then
		fits = take(f.cq_data, 8)
	end
	if fits and (op == TAGGED or op == RTS or op == TAGGED_READ or op == TAGGED_WRITE or
		     (op == MSG and has(flags, OLD_TAGGED))) then
		fits = take(f.tag, 8)
	end
	if fits and (op == RTS or op == TAGGED_READ) then
		fits = take(f.msg_len, 8)
	end
	local sum = UInt64(0)
	for _ = 1, ranges and count or 0 do
		local range = fits and take(f.range, RANGE_SIZE)
		if not range then
			fits = nil
			break
		end
		local first = at - RANGE_SIZE
		sum = sum + u64(first + 8)
		add(range, f.addr, tvb(first, 8))
		add(range, f.len, tvb(first + 8, 8))
		add(range, f.key, tvb(first + 16, 8))
	end
	if tvb:len() > hdr_size then
		tree:add(f.payload, tvb(hdr_size))
	end

	local payload = UInt64(tvb:len() - hdr_size)
	if tvb(0, 1):uint() ~= 3 then
		complain(tree, "version " .. tvb(0, 1):uint())
	end
	if not ops[op] then
		complain(tree, "operation " .. op)
	elseif not fits or at ~= hdr_size then
		complain(tree, "the header has " .. hdr_size .. " bytes, its fields take " .. at)
	end
	for bit = 0, 15 do
		if has(flags, 2 ^ bit) and not has(flags_known, 2 ^ bit) then
			complain(tree, string.format("flags %#x", flags))
			break
		end
	end
	if ranges and (count < 1 or count > 4) then
		complain(tree, count .. " ranges")
	end
	if op == WRITE and fits and sum ~= payload and not has(flags, SAVE) then
		complain(tree, "ranges of " .. tostring(sum) .. " bytes")
	end
	if op == REFUSE and (not reasons[op_data] or (flags == CQ_DATA and op_data > 2) or
				(has(flags, OF_RTS) and op_data ~= 3)) then
		complain(tree, "reason " .. op_data)
	end
	if has(flags, END_KEY) and (op ~= MSG or ack or not has(flags, CQ_DATA) or
				    has(flags, SAVE) or has(flags, LEAVE)) then
		complain(tree, "ends a key where it cannot")
	end
	if (op == TAGGED_READ and flags ~= 0) or
	   (op == TAGGED_WRITE and flags ~= 0 and flags ~= CQ_DATA) then
		complain(tree, string.format("flags %#x", flags))
	end
	if (op == READ or op == CTS or op == REFUSE or op == TAGGED_READ or ack) and payload ~= UInt64(0) then
		complain(tree, "payload where none is due")
	end
	return what
end

-- pdu_len: bytes of the message at @offset; nil: too few of them are there
local function pdu_len(tvb, offset, cm, little)
	if tvb:len() - offset < (cm and CM_SIZE or BASE_SIZE) then
		return nil
	end
	if cm then
		return CM_SIZE + tvb(offset + 2, 2):uint()
	end
	local size = tvb(offset + 8, 8)
	size = little and size:le_uint64() or size:uint64()
	-- A size that is none would be waited for until the end of the capture
	local len, hdr_size = size:tonumber(), tvb(offset + 6, 1):uint()
	if hdr_size < BASE_SIZE or len < hdr_size or len >= 2 ^ 31 then
		return 0
	end
	return len
end

-- dissect_rxm: the payload of a message, which is a packet of rxm
local function dissect_rxm(pdu, pinfo, root, from)
	local found, rxm = pcall(Dissector.get, "kofi_rxm")
	local hdr_size = pdu(6, 1):uint()

	if not found or not rxm or pdu(1, 1):uint() ~= MSG or pdu(4, 1):uint() == ACK or
	    pdu:len() <= hdr_size then
		return
	end
	pinfo.private.kofi_big = from.little == false and "1" or nil
	rxm:call(pdu(hdr_size):tvb(), pinfo, root)
end

function kofi.dissector(tvb, pinfo, root)
	local stream, from = stream_of(pinfo)
	local offset = 0
	local said = {}

	pinfo.cols.protocol = "kOFI"
	while offset < tvb:len() do
		local cm = not from.cm_frame or (from.cm_frame == pinfo.number and offset == 0)
		local little = is_little(stream)
		local len = pdu_len(tvb, offset, cm, little)

		if not len or offset + len > tvb:len() then
			pinfo.desegment_offset = offset
			pinfo.desegment_len = len and offset + len - tvb:len() or
					      DESEGMENT_ONE_MORE_SEGMENT
			break
		end
		if len == 0 then
			complain(root:add(kofi, tvb(offset)), "no message")
			break
		end
		local pdu = tvb(offset, len):tvb()
		local tree = root:add(kofi, pdu())
		local what
		if cm then
			from.cm_frame = pinfo.number
			what = dissect_cm(pdu, pinfo, tree, from)
			stream.rxm = stream.rxm or from.rxm
		else
			what = dissect_data(pdu, pinfo, tree, little)
			if stream.rxm then
				dissect_rxm(pdu, pinfo, root, from)
			end
		end
		tree:append_text(", " .. what .. ", " .. len .. " bytes")
		table.insert(said, what)
		offset = offset + len
	end
	if #said > 0 then
		pinfo.cols.info = table.concat(said, "; ")
	end
	return tvb:len()
end

-- A connection begins with a request: 28 of its 32 bytes are known, of kOFI 24.
local function is_request(tvb)
	if tvb:len() < CM_SIZE or tvb(0, 1):uint() ~= 3 or
	    (tvb(1, 1):uint() ~= REQUEST and tvb(1, 1):uint() ~= CONTEXT) or
	    tvb(2, 2):uint() > CM_DATA or tvb(4, 4):uint() ~= 0 or
	    tvb(8, 8):uint64() ~= UInt64(0) or
	    (tvb(16, 8):uint64() ~= UInt64(0) and tvb(16, 4):uint() ~= KOFI) then
		return false
	end
	return tvb(24, 8):le_uint64() == UInt64(1) or tvb(24, 8):uint64() == UInt64(1)
end

kofi:register_heuristic("tcp", function(tvb, pinfo, root)
	if not is_request(tvb) then
		return false
	end
	pinfo.conversation = kofi
	kofi.dissector(tvb, pinfo, root)
	return true
end)

-- For "Decode As", where the beginning of a connection is not in the capture
DissectorTable.get("tcp.port"):add_for_decode_as(kofi)
