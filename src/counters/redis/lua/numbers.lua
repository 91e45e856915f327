-- Numbers are written with a format, because newer servers turn large ones into exponents.
local MAX_EXACT, LONGEST = 9007199254740991, 315576000001000
local find, match, format = string.find, string.match, string.format
local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
-- Three times as fast as %.0f; exact where the server's C prints integers of 64 bits.
local WHOLE = format('%d', MAX_EXACT) == '9007199254740991' and '%d' or '%.0f'
