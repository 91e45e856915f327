local apply, applyRun
local function applyOne(i)
  readCharge(i)
  if not apply then apply = general() end
  apply(i)
end
if #runEnds > 0 then
  for i = 1, n do readCharge(i) end
  apply, applyRun = general()
end
local from = 1
for _, last in ipairs(runEnds) do
  applyRun(from, last)
  from = last + 1
end
for i = from, n do
  local order = orders[ARGV[at]]
  local one = order.one
  if not one then applyOne(i)
  else
    local stood, isDone, wrong = size, one(order.mode, keys[before + i], ARGV[at + 1], ARGV[at + 2] + 0)
    if not isDone then applyOne(i)
    else
      at = at + 3
      if wrong then fail(stood, wrong) end
    end
  end
end
local answer = { after, heldBack, format(WHOLE, micros), mended }
return isPacking and pack(answer) or answer
