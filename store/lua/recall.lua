-- The idempotence key of an attempt that is decided in parts. KEYS[2] is held
-- by the one check under that key which is being decided, for as long as that
-- may take, so that others wait for what becomes of it.
-- ARGV: now, binding, most uses, what to do, attempt, value or milliseconds.
--   reserve   look for an earlier attempt and count its use, else hold the key
--   remember  remember this attempt, unless another was quicker
--   release   forget that the key is held: the attempt was denied

local FREE, REPEATED, CONFLICT, HELD = 0, 1, 2, 3

local now, act = clock(ARGV[1]), ARGV[4]

local function release()
  if redis.call('GET', KEYS[2]) == ARGV[5] then redis.call('DEL', KEYS[2]) end
end

if act == 'release' then
  release()
  return {FREE, '', now}
end
local m = parseremembered(redis.call('GET', KEYS[1]), now)
if m and m.uses > 0 then
  if act == 'remember' then release() end
  if m.binding ~= ARGV[2] or m.uses >= tonumber(ARGV[3]) then return {CONFLICT, '', now} end
  m.uses = m.uses + 1
  local value = formatremembered(m)
  put(KEYS[1], value, m.expires, now)
  return {REPEATED, value, now}
end
if act == 'reserve' then
  if redis.call('SET', KEYS[2], ARGV[5], 'NX', 'PX', ARGV[6]) then return {FREE, '', now} end
  return {HELD, '', now}
end
release()
local mine = parseremembered(ARGV[6], now)
if mine then put(KEYS[1], ARGV[6], mine.expires, now) end
return {FREE, '', now}
