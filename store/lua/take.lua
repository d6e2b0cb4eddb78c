-- Store.Take: decides one attempt over all its buckets and charges all of
-- them or none. The same as take.go. ARGV: see takeArgs in redis_steps.go.

local DENIED, ADMITTED, REPEATED, CONFLICT = 0, 1, 2, 3
local HEAD, STEP = 20, 4

local now = clock(ARGV[1])
local peek, debit = ARGV[2] == '1' or ARGV[2] == '3', ARGV[2] == '2' or ARGV[2] == '3'
local recordkey, idemkey = KEYS[tonumber(ARGV[3])], KEYS[tonumber(ARGV[4])]
local network, remember = ARGV[5], tonumber(ARGV[6])
local challenged = tonumber(ARGV[11]) -- 0: none, -1: in another part of the attempt
local forced, replace = tonumber(ARGV[18]), ARGV[19] == '1'
local n = tonumber(ARGV[HEAD])

local function has(mask, bit) return mask % (2 * bit) >= bit end

local values = readkeys(KEYS)
local function value(i) return values[i] or nil end -- not false

-- Makes sure that what of the listed keys was not there is not there. An absent
-- bucket is full.
local function trulyabsent(list)
  local missing = {}
  for _, i in ipairs(list) do
    if not values[i] then missing[#missing + 1] = KEYS[i] end
  end
  absent(missing)
end

local rec = parserecord(value(tonumber(ARGV[3])))

-- The lane.
local function wrong(source, tag)
  if source == '' or tag == '' then return false end
  local found = false
  local value = rec.values[source]
  if not value then return false end
  eachwrong(value, function(t, moment)
    if t == tag and now - moment < WRONG_KEEP then found = true end
  end)
  return found
end

local device = tonumber(ARGV[7]) > resetmoment(rec, now) and now < tonumber(ARGV[8])
local known = false
if network ~= '' and rec.values['n:' .. network] then
  known = now - plain(rec.values['n:' .. network]) < remember
end
local failed = failures(rec, now, remember)
local lane = STRANGER
if device then lane = DEVICE elseif known then lane = FAMILIAR end
if device then
  if wrong(ARGV[9], ARGV[10]) then lane = REPEAT_DEVICE end
elseif wrong(ARGV[12], ARGV[13]) then
  lane = REPEAT_NETWORK
end

if forced > 0 then lane = forced end

-- An attempt that was admitted under the same name before.
local outcome, attempt, issued, replaced, first = DENIED, ARGV[14], now, 0, nil
if idemkey and not peek and not debit then
  trulyabsent({tonumber(ARGV[4])})
  local m = parseremembered(value(tonumber(ARGV[4])), now)
  if m and m.uses > 0 then
    if m.binding ~= ARGV[15] or m.uses >= tonumber(string.match(ARGV[16], '^%d+')) then
      return {CONFLICT, now, attempt, issued, lane, (device or known) and 1 or 0, failed, 0, '-', '-'}
    end
    outcome, attempt, issued, lane, replaced, first = REPEATED, m.attempt, m.issued, m.lane, m.replaced, m
  end
end

-- Charges, and what of them is needed to know whether they apply. The rest of
-- a charge has its room from the start: to make room field by field would cost
-- more than all the reckoning.
local charges, standin = {}, nil
for i = 1, n do
  local b = HEAD + (i - 1) * STEP
  local key, when, cost, population, flags = string.match(ARGV[b + 1], '^(%d+) (%d+) (%d+) (%d+) (%d+)$')
  if i == challenged or has(tonumber(when), lane) then
    flags = tonumber(flags)
    local c = {
      index = i, base = b, key = tonumber(key), field = ARGV[b + 2], cost = tonumber(cost), population = tonumber(population),
      logonly = has(flags, 1), challenge = has(flags, 2), mark = ARGV[b + 4], capacity = 0, interval = 0, peruser = 0, most = 0,
      forget = 0, debt = 0, nwaits = 0, longest = 0, waits = '', full = 0, missing = 0, strikes = 0, till = 0, last = 0,
      pays = false, loan = false, waiting = false, wait = 0, cut = false, dry = false, charged = false, struck = false,
    }
    if i == challenged then standin = c else charges[#charges + 1] = c end
  end
end

local SPEC = '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) ([%d,]*)$'

local function load(c)
  local capacity, interval, peruser, most, forget, debt, nwaits, longest, waits = string.match(ARGV[c.base + 3], SPEC)
  c.capacity, c.interval, c.peruser, c.most = tonumber(capacity), tonumber(interval), tonumber(peruser), tonumber(most)
  c.forget, c.debt, c.nwaits, c.longest, c.waits = tonumber(forget), tonumber(debt), tonumber(nwaits), tonumber(longest), waits
end

-- The k-th wait of a backoff.
local function waitof(c, k)
  for w in string.gmatch(c.waits, '%d+') do
    k = k - 1
    if k == 0 then return tonumber(w) end
  end
end

-- How long strikes are remembered, of every bucket in the record.
local function forgets()
  local out = {}
  for i = 1, n do
    local b = HEAD + (i - 1) * STEP
    if ARGV[b + 2] ~= '' then out[ARGV[b + 2]] = tonumber((select(5, string.match(ARGV[b + 3], SPEC)))) end
  end
  return out
end

local function judge(c, value, heads)
  if c.population > 0 and c.peruser > 0 then
    local w, both, this = headcount(heads)
    local people, week = 0, math.floor(now / WEEK)
    if week == w then people = both elseif week == w + 1 then people = this end
    if people > 0 then
      local base = c.capacity
      local grown = base + math.floor(c.peruser * math.min(people, POPULATION_MOST) / 1000000)
      c.capacity = math.max(base, math.min(grown, c.most))
      c.interval = ceildiv(c.interval * base, c.capacity)
    end
  end
  local s = parse(value)
  local full = c.capacity * c.interval
  -- Missing time, carried over when the size changed.
  local raw = s.full - now
  local d, resized = raw, s.interval ~= 0 and (s.capacity ~= c.capacity or s.interval ~= c.interval)
  c.cut = false
  if d <= 0 or s.interval == 0 then
    d = 0
  elseif not resized then
    d = math.min(d, full + c.debt + c.nwaits * c.interval)
    c.cut = d < raw
  else
    local whole = math.floor(d / s.interval)
    if whole >= c.capacity then
      d = full
    else
      local parts = ceildiv((d - whole * s.interval) * CARRY, s.interval)
      d = math.min(whole * c.interval + ceildiv(parts * c.interval, CARRY), full)
    end
  end
  c.missing, c.strikes, c.till, c.last = d, 0, 0, 0
  if c.nwaits > 0 and s.strikes > 0 then
    local last = math.min(s.last, now)
    if now - last < c.forget then
      c.strikes, c.last = s.strikes, last
      c.till = math.min(s.till, now + c.longest)
      c.cut = c.cut or c.till < s.till
    end
  end
  c.pays, c.loan, c.waiting, c.wait = false, false, false, 0
  local need = d + c.cost * c.interval - full
  if c.till > now then
    c.waiting, c.wait = true, c.till - now
  elseif need <= 0 then
    c.pays = true
  elseif c.till > 0 then
    c.loan = true
  elseif c.nwaits > 0 then
    c.wait = math.min(need, waitof(c, math.min(c.strikes, c.nwaits - 1) + 1))
  else
    c.wait = need
    if resized then
      local old = raw - (c.capacity - c.cost) * s.interval
      if c.interval < s.interval or old > WAIT_MOST then c.cut = true else c.wait = old end
    end
  end
  c.dry = not c.pays and not c.loan
end

local function readall(list)
  local used = {}
  if recordkey then used[1] = tonumber(ARGV[3]) end
  for _, c in ipairs(list) do
    load(c)
    if c.field == '' then used[#used + 1] = c.key end
    if c.population > 0 and c.peruser > 0 then used[#used + 1] = c.population end
  end
  trulyabsent(used)
  for _, c in ipairs(list) do
    if c.field ~= '' then judge(c, rec.values[c.field]) else judge(c, value(c.key), value(c.population)) end
  end
end
readall(charges)

-- Of a denial, and of a look, after which another part of the attempt may deny:
-- the entries of the record that put an attempt on another lane.
local function sources()
  local list = {}
  for _, name in ipairs(rec.names) do
    local p = string.sub(name, 1, 2)
    if p == 'n:' or p == 'w:' then list[#list + 1] = name end
  end
  return table.concat(list, ' ')
end

local function answer()
  local note = first and first.note or '-'
  if recordkey and (outcome == DENIED or peek) then note = sources() end
  local out = {outcome, now, attempt, issued, lane, (device or known) and 1 or 0, failed, replaced, first and first.marks or '-', note}
  local o = #out
  for _, c in ipairs(charges) do
    out[o + 1], out[o + 2] = c.index, (c.dry and 1 or 0) + (c.charged and 2 or 0) + (c.struck and 4 or 0)
    out[o + 3], out[o + 4], out[o + 5] = c.capacity, c.interval, c.missing
    out[o + 6], out[o + 7] = c.dry and c.wait or 0, c.strikes
    o = o + 7
  end
  return out
end

if first then
  first.uses = first.uses + 1
  put(idemkey, formatremembered(first), first.expires, now)
  return answer()
end

-- All enforced buckets together; a passed challenge may stand in for dry ones.
local dry, stubborn = false, false
for _, c in ipairs(charges) do
  if c.dry and not c.logonly then
    dry = true
    stubborn = stubborn or not c.challenge
  end
end
local admitted = debit or not dry and not replace
if not admitted and not stubborn and challenged < 0 then
  admitted, replaced = true, 1
elseif not admitted and not stubborn and challenged > 0 then
  local c = standin
  readall({c})
  charges[#charges + 1] = c
  if not c.dry or c.logonly then admitted, replaced = true, 1 end
end
if admitted then outcome = ADMITTED end
if peek then return answer() end

for _, c in ipairs(charges) do
  local touched = false
  if debit then
    if not c.logonly or c.pays then
      local d = math.max(c.missing, math.min(c.missing + c.cost * c.interval, c.capacity * c.interval + c.debt))
      touched, c.charged = d ~= c.missing, true
      c.missing = d
    end
  elseif c.dry and (c.logonly or replaced == 0) then
    if c.nwaits > 0 and not c.waiting then
      touched = true
      c.struck = c.strikes < STRIKE_MOST
      c.strikes = math.min(c.strikes + 1, STRIKE_MOST)
      c.till, c.last = now + c.wait, now
    end
  elseif c.dry or not admitted then
    touched = false
  elseif c.loan and c.logonly then
    touched, c.till = true, 0
  else
    touched, c.charged = true, true
    c.missing, c.till = c.missing + c.cost * c.interval, 0
  end
  if touched or c.cut and c.dry then
    c.full = now + c.missing
    local something = c.missing > 0 or c.strikes > 0
    if c.field ~= '' then
      setentry(rec, c.field, something and format(c) or nil)
    elseif something then
      put(KEYS[c.key], formatshort(c), expires(c, c.forget), now)
    else
      redis.call('DEL', KEYS[c.key])
    end
  elseif c.dry then
    -- A key that lost its expiry, as by a restore, would deny for ever.
    local key, span = KEYS[c.key], math.max(c.missing, c.wait, c.forget)
    if c.field ~= '' then key, span = recordkey, remember end
    if redis.call('PTTL', key) == -1 then redis.call('PEXPIRE', key, int(ceildiv(span, 1000) + GRACE_MS)) end
  end
end
if rec.changed then saverecord(rec, recordkey, now, remember, forgets()) end

if admitted and idemkey and not debit then
  local list = {}
  for _, c in ipairs(charges) do
    if c.charged then list[#list + 1] = c.mark end
  end
  local m = {binding = ARGV[15], uses = 1, attempt = attempt, issued = now, expires = now + tonumber(string.match(ARGV[16], '%d+$')),
    lane = lane, replaced = replaced, marks = #list > 0 and table.concat(list, ',') or '-', note = ARGV[17]}
  put(idemkey, formatremembered(m), m.expires, now)
end
return answer()
