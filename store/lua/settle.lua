-- Store.Settle: ends an attempt once. The same as settle.go. ARGV: see
-- settleArgs in redis_steps.go.

local MARKER_KEEP = 60000000

local now = clock(ARGV[1])
local function key(i) return KEYS[tonumber(ARGV[i])] end
local marker, idemkey, recordkey = key(2), key(3), key(4)
local issued, ends = tonumber(ARGV[5]), tonumber(ARGV[6])
local refund, teach, fail = ARGV[7] == '1', ARGV[8] == '1', ARGV[9] == '1'
local network, remember, sources = ARGV[10], tonumber(ARGV[11]), tonumber(ARGV[12])
local member, source, tag = ARGV[13], ARGV[14], ARGV[15]
local refunds, populations = tonumber(ARGV[16]), tonumber(ARGV[17])

if ends > 0 and now >= ends then return {0, 1, 0, now} end
-- Read everything first. A damaged value must be found before anything is
-- written: the settlement can be made again once it is mended.
local at, read, values = 17, {}, {}
local function want(k) if k then read[#read + 1] = k end end
want(marker) want(idemkey) want(recordkey)
for i = 1, refund and refunds or 0 do
  if ARGV[at + (i - 1) * 3 + 2] == '' then want(key(at + (i - 1) * 3 + 1)) end
end
for i = 1, teach and populations or 0 do want(key(at + refunds * 3 + (i - 1) * 3 + 1)) end
local missing = {}
for i, v in ipairs(readkeys(read)) do
  if v then values[read[i]] = v else missing[#missing + 1] = read[i] end
end
absent(missing)

if marker and values[marker] then return {0, 0, 0, now} end
local rec = parserecord(values[recordkey])
for _, name in ipairs(rec.names) do entryexpires(name, rec.values[name], 0, {}) end
local remembered = parseremembered(values[idemkey], now)
local states, heads = {}, {}
for i = 1, refund and refunds or 0 do
  local b = at + (i - 1) * 3
  local field, value = ARGV[b + 2], nil
  if field ~= '' then value = rec.values[field] else value = values[key(b + 1)] end
  states[i] = value and parse(value)
end
for i = 1, teach and populations or 0 do
  heads[i] = {headcount(values[key(at + refunds * 3 + (i - 1) * 3 + 1)])}
end
local reset = resetmoment(rec, now)
local stale = issued > 0 and issued <= reset

if marker then put(marker, '1', ends + MARKER_KEEP, now) end
if remembered and remembered.uses > 0 then
  remembered.uses = 0
  put(idemkey, formatremembered(remembered), remembered.expires, now)
end
if refund then
  for i = 1, refunds do
    local b = at + (i - 1) * 3
    local k, field, cost = key(b + 1), ARGV[b + 2], tonumber(ARGV[b + 3])
    local s = states[i]
    if s then
      local d = math.max(0, s.full - now - cost * s.interval)
      s.full = now + d
      if s.strikes > 0 then
        if d + s.interval <= s.capacity * s.interval then
          s.till = 0
        elseif s.till == 0 then
          s.till = now
        end
      end
      local something = s.full > now or s.strikes > 0
      if field ~= '' then
        setentry(rec, field, something and format(s) or nil)
      elseif something then
        put(k, formatshort(s), expires(s, STRIKE_KEEP), now)
      else
        redis.call('DEL', k)
      end
    end
  end
end
at = at + refunds * 3

if fail and not stale and recordkey then
  local n = failures(rec, now, remember)
  setentry(rec, 'F', int(math.min(n + 1, FAILURES_MOST)) .. '@' .. int(now))
  if source ~= '' and tag ~= '' then
    local items = {}
    for item in string.gmatch(rec.values[source] or '', '[^,]+') do
      if string.match(item, '^[^@]*') ~= tag then items[#items + 1] = item end
    end
    items[#items + 1] = tag .. '@' .. int(now)
    while #items > WRONG_TAGS do table.remove(items, 1) end
    setentry(rec, source, nil)
    setentry(rec, source, table.concat(items, ','))
    trim(rec, 'w:', WRONG_SOURCES)
  end
end
if teach and not stale then
  if recordkey then
    setentry(rec, 'F', nil)
    if network ~= '' then
      setentry(rec, 'n:' .. network, nil)
      setentry(rec, 'n:' .. network, int(now))
      trim(rec, 'n:', sources)
    end
  end
  if member ~= '' then
    for i = 1, populations do
      local b = at + (i - 1) * 3
      local k, slots = key(b + 1), {[0] = key(b + 2), [1] = key(b + 3)}
      local w = heads[i][1]
      local week = math.floor(now / WEEK)
      local mine, other = slots[week % 2], slots[(week + 1) % 2]
      -- On a cluster populations are joined in parts that see no record.
      local may = w >= week - 1 or not recordkey or found(rec, now)
      if not may then
        mine = nil
      elseif w ~= week then
        redis.call('DEL', mine)
        if w ~= week - 1 then redis.call('DEL', other) end
      end
      if mine and (redis.call('PFADD', mine, member) == 1 or w ~= week) then
        local till = (week + 2) * WEEK
        redis.call('PEXPIRE', mine, int(ceildiv(till - now, 1000) + GRACE_MS))
        put(k, int(week) .. '/' .. int(redis.call('PFCOUNT', mine, other)) .. '/' .. int(redis.call('PFCOUNT', mine)), till, now)
      end
    end
  end
end
saverecord(rec, recordkey, now, remember, {})
return {1, 0, stale and 1 or 0, now}
