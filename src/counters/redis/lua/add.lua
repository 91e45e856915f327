-- Arguments: hits and time to live of every key. Answers the counts.
local after = {}
for i = 1, n do after[i] = add(keys[before + i], ARGV[skip + i * 2 - 1], ARGV[skip + i * 2]) end
return isPacking and pack(after) or after
