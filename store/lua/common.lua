-- Shared by all scripts. The same algorithm as bucket.go, codec.go, record.go
-- and population.go, on the same integers: numbers are doubles here, and every
-- value and product stays below 2^53. Numbers are printed with %.0f, since the
-- operator .. would keep 14 digits only.

local STRIKE_KEEP, STRIKE_MOST = 172800000000, 9999
local WRONG_KEEP, WRONG_TAGS, WRONG_SOURCES = 86400000000, 3, 16
local FOUNDED_MOST, FOUNDED_SPAN = 16, 86400000000
local FAILURES_MOST, POPULATION_MOST = 1e9, 1e7
local CARRY, WEEK = 1048576, 604800000000
local EXACT, INTERVAL_MOST, WAIT_MOST = 9007199254740992, 4294967296, 3600000000
-- Keys outlive what they say by ten seconds, so that a clock that is set back
-- a little, as in a failover, does not find them gone.
local GRACE_MS = 10000
local DEVICE, FAMILIAR, STRANGER, REPEAT_DEVICE, REPEAT_NETWORK = 1, 2, 4, 8, 16

local function int(n) return string.format('%.0f', n) end

local function ceildiv(a, b) return math.floor((a + b - 1) / b) end

local function clock(given)
  if given ~= '' then return tonumber(given) end
  local t = redis.call('TIME')
  return tonumber(t[1]) * 1000000 + tonumber(t[2])
end

-- Reads keys at once. MGET takes a key of another type for an absent one.
local function readkeys(keys)
  return #keys > 0 and redis.call('MGET', unpack(keys)) or {}
end

-- What is absent and counts is asked for once more: there must be no such key
-- at all, of whatever type.
local function absent(missing)
  if #missing > 0 and redis.call('EXISTS', unpack(missing)) > 0 then
    for _, k in ipairs(missing) do redis.call('GET', k) end -- says WRONGTYPE
    error('WRONGTYPE', 0)
  end
end

-- A string, since Redis before 7 cannot report an error that is a table.
local function corrupt(what) error('CORRUPT ' .. what, 0) end

-- A plain decimal below 2^53; text is nil where a pattern did not match.
local function number(text, what)
  if not text or #text > 16 then corrupt(what) end
  local n = tonumber(text)
  if n >= EXACT then corrupt(what) end
  return n
end

-- Redis writes a number among the arguments with 17 digits, more than this has.
local function put(key, value, expires, now)
  redis.call('PSETEX', key, math.max(0, ceildiv(expires - now, 1000)) + GRACE_MS, value)
end

-- The short form of a bucket with a key of its own: see codec.go.
local SHORT_EPOCH, SHORT_SPAN, SHORT_DIGITS = 1577836800000000, 1e15, 15
local WINDOWS = {{3600000000, 7000, 0}, {60000000, 1000, 7000}, {86400000000, 1000, 8000}}

local function parseshort(v)
  -- The number itself is beyond what a double holds; its halves are not.
  if not string.match(v, '^[1-9]%d+$') or #v <= SHORT_DIGITS or #v > SHORT_DIGITS + 4 then corrupt('bucket') end
  local code, since = tonumber(string.sub(v, 1, -SHORT_DIGITS - 1)), tonumber(string.sub(v, -SHORT_DIGITS))
  for _, w in ipairs(WINDOWS) do
    local capacity = code - w[3]
    if capacity >= 1 and capacity <= w[2] and ceildiv(w[1], capacity) <= INTERVAL_MOST then
      return {full = since + SHORT_EPOCH, capacity = capacity, interval = ceildiv(w[1], capacity), strikes = 0, till = 0, last = 0}
    end
  end
  corrupt('bucket')
end

-- A bucket. An absent one is full: everything 0. Nobody changes this one.
local FULL = {full = 0, capacity = 0, interval = 0, strikes = 0, till = 0, last = 0}

local function parse(v)
  if not v then return FULL end
  if not string.find(v, '/', 1, true) then return parseshort(v) end
  local f, c, i, rest = string.match(v, '^(%d+)/(%d+)x(%d+)(.*)$')
  local s = {full = number(f, 'bucket'), capacity = number(c, 'bucket'), interval = number(i, 'bucket'), strikes = 0, till = 0, last = 0}
  if rest ~= '' then
    local n, u, l = string.match(rest, '^/(%d+)/(%d+)/(%d+)$')
    s.strikes, s.till, s.last = number(n, 'bucket'), number(u, 'bucket'), number(l, 'bucket')
  end
  if s.interval == 0 or s.interval > INTERVAL_MOST or s.capacity * s.interval >= EXACT then corrupt('bucket') end
  return s
end

local function format(s)
  if s.strikes == 0 then return string.format('%.0f/%.0fx%.0f', s.full, s.capacity, s.interval) end
  return string.format('%.0f/%.0fx%.0f/%.0f/%.0f/%.0f', s.full, s.capacity, s.interval, s.strikes, s.till, s.last)
end

local function formatshort(s)
  local since, capacity = s.full - SHORT_EPOCH, s.capacity
  if s.strikes > 0 or since < 0 or since >= SHORT_SPAN or capacity < 1 then return format(s) end
  for i = 1, #WINDOWS do
    local w = WINDOWS[i]
    if capacity <= w[2] and s.interval == ceildiv(w[1], capacity) then
      return string.format('%.0f%015.0f', w[3] + capacity, since)
    end
  end
  return format(s)
end

local function expires(s, forget)
  if s.strikes == 0 then return s.full end
  return math.max(s.full, s.till, s.last + forget)
end

-- The account record: entries name=value in the order of their first writing.
local function parserecord(v)
  local r = {names = {}, values = {}, changed = false}
  if not v then return r end
  local size = 0
  for entry in string.gmatch(v, '[^ ]+') do
    local name, value = string.match(entry, '^([^=]+)=(.+)$')
    if not name or r.values[name] then corrupt('record') end
    r.names[#r.names + 1] = name
    r.values[name] = value
    size = size + #entry + 1
  end
  if size ~= #v + 1 then corrupt('record') end
  return r
end

local function setentry(r, name, value)
  local old = r.values[name]
  if old == value then return end
  r.changed = true
  r.values[name] = value
  if old == nil then
    r.names[#r.names + 1] = name
  elseif value == nil then
    for i, n in ipairs(r.names) do
      if n == name then table.remove(r.names, i) break end
    end
  end
end

local function pair(v)
  local a, b = string.match(v, '^(%d+)@(%d+)$')
  return number(a, 'record'), number(b, 'record')
end

local function plain(v) return number(string.match(v, '^%d+$'), 'record') end

local function failures(r, now, keep)
  local v = r.values['F']
  if not v then return 0 end
  local n, last = pair(v)
  if now - last >= keep then return 0 end
  return n
end

local function resetmoment(r, now)
  local v = r.values['C']
  if not v then return 0 end
  local moment, keep = pair(v)
  if now >= keep then return 0 end
  return moment
end

local function trim(r, prefix, most)
  local found = {}
  for _, n in ipairs(r.names) do
    if string.sub(n, 1, 2) == prefix then found[#found + 1] = n end
  end
  for i = 1, #found - most do
    setentry(r, found[i], nil)
    -- Nothing can be charged on its bucket until a tag fails there again.
    if prefix == 'w:' then setentry(r, 'r:' .. string.sub(found[i], 3), nil) end
  end
end

-- Counts a population that the account is the first member of, if it may be.
local function found(r, now)
  local n, since, v = 0, now, r.values['P']
  if v then
    local count, begin = pair(v)
    if now - begin < FOUNDED_SPAN then n, since = count, begin end
  end
  if n >= FOUNDED_MOST then return false end
  setentry(r, 'P', int(n + 1) .. '@' .. int(since))
  return true
end

local function isbucket(name)
  local p = string.sub(name, 1, 2)
  return name ~= 'F' and name ~= 'C' and name ~= 'P' and p ~= 'n:' and p ~= 'w:'
end

-- Calls visit with every wrong tag of a source and its moment, oldest first.
local function eachwrong(value, visit)
  for item in string.gmatch(value .. ',', '([^,]*),') do
    local tag, moment = string.match(item, '^([^@]*)@(%d+)$')
    visit(tag, number(moment, 'record'))
  end
end

local function entryexpires(name, value, keep, forgets)
  local p = string.sub(name, 1, 2)
  if name == 'C' then
    local _, till = pair(value)
    return till
  elseif name == 'P' then
    local _, since = pair(value)
    return since + FOUNDED_SPAN
  elseif name == 'F' then
    local _, last = pair(value)
    return last + keep
  elseif p == 'n:' then
    return plain(value) + keep
  elseif p == 'w:' then
    local last = 0
    eachwrong(value, function(_, moment) last = moment end)
    return last + WRONG_KEEP
  end
  return expires(parse(value), forgets[name] or STRIKE_KEEP)
end

-- Writes a changed record back, without the entries that say nothing any more.
local function saverecord(r, key, now, keep, forgets)
  if not r.changed or key == nil then return end
  local out, last = {}, 0
  for _, name in ipairs(r.names) do
    local e = entryexpires(name, r.values[name], keep, forgets)
    if e > now then
      out[#out + 1] = name .. '=' .. r.values[name]
      last = math.max(last, e)
    end
  end
  if #out == 0 then redis.call('DEL', key) return end
  put(key, table.concat(out, ' '), last, now)
end

-- What is remembered under an idempotence key; nil when there is nothing.
local function parseremembered(v, now)
  if not v then return nil end
  local b, u, a, i, e, l, r, c, n = string.match(v, '^(%S+) (%d+) (%S+) (%d+) (%d+) (%d+) (%d+) (%S+) (%S+)$')
  local what = 'idempotence key'
  local m = {binding = b, uses = number(u, what), attempt = a, issued = number(i, what), expires = number(e, what),
    lane = number(l, what), replaced = number(r, what), marks = c, note = n}
  if m.lane > REPEAT_NETWORK then corrupt(what) end
  if now >= m.expires then return nil end
  return m
end

local function formatremembered(m)
  return table.concat({m.binding, int(m.uses), m.attempt, int(m.issued), int(m.expires), int(m.lane),
    int(m.replaced), m.marks, m.note}, ' ')
end

local function headcount(v)
  if not v then return -2, 0, 0 end
  local w, both, this = string.match(v, '^(%d+)/(%d+)/(%d+)$')
  return number(w, 'population'), number(both, 'population'), number(this, 'population')
end
