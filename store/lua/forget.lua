-- Store.Forget for an account. The same as forget in settle.go.
-- ARGV: now, credentials, keep, remember.

local now = clock(ARGV[1])
local keep, remember = tonumber(ARGV[3]), tonumber(ARGV[4])
local ok, rec = pcall(parserecord, redis.call('GET', KEYS[1]))
if not ok or ARGV[2] == '1' then
  rec = {names = {}, values = {}, changed = false}
  setentry(rec, 'C', int(now) .. '@' .. int(now + keep))
end
for i = #rec.names, 1, -1 do
  if isbucket(rec.names[i]) then setentry(rec, rec.names[i], nil) end
end
saverecord(rec, KEYS[1], now, remember, {})
return now
