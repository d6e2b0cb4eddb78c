-- The idempotence key of an attempt that is decided in parts. Without a value
-- it looks for an earlier attempt and counts its use; with one it remembers
-- this attempt, unless another was quicker: then that one is answered.
-- ARGV: now, binding, most uses, value.

local now = clock(ARGV[1])
local m = parseremembered(redis.call('GET', KEYS[1]), now)
if not m or m.uses == 0 then
  if ARGV[4] ~= '' then
    local mine = parseremembered(ARGV[4], now)
    if mine then put(KEYS[1], ARGV[4], mine.expires, now) end
  end
  return {0, '', now}
end
if m.binding ~= ARGV[2] or m.uses >= tonumber(ARGV[3]) then return {2, '', now} end
m.uses = m.uses + 1
local value = formatremembered(m)
put(KEYS[1], value, m.expires, now)
return {1, value, now}
