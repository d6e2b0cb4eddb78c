-- Store.Forget for an account. The same as forget in settle.go.
-- ARGV: now, credentials, keep, remember.

local now = clock(ARGV[1])
local keep, remember = tonumber(ARGV[3]), tonumber(ARGV[4])
local value = redis.call('GET', KEYS[1])
local ok, rec = pcall(function()
  local r = parserecord(value)
  for i = #r.names, 1, -1 do
    if isbucket(r.names[i]) then setentry(r, r.names[i], nil) end
  end
  for _, name in ipairs(r.names) do entryexpires(name, r.values[name], remember, {}) end
  return r
end)
if not ok or ARGV[2] == '1' then
  rec = {names = {}, values = {}, changed = false}
  setentry(rec, 'C', int(now) .. '@' .. int(now + keep))
end
saverecord(rec, KEYS[1], now, remember, {})
return now
