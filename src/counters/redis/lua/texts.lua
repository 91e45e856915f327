local byte, sub, gmatch = string.byte, string.sub, string.gmatch
local packed, read = struct.pack, struct.unpack
