-- Asks loginguard about a login form and reports how the application answered.
-- This file holds a caller key: chmod 600.

local guard = "http://127.0.0.1:8080"
local key   = "REPLACE-WITH-THE-CALLER-KEY"     -- loginguard callers add --name haproxy
local field = "username"                        -- of the form

-- What the application answers to a sign-in that succeeded. Everything else is a failure: a
-- wrong password that makes it answer with an error must not be free.
local function succeeded(status)
  return status == 302 or status == 303 or status == 204
end

local headers = { ["content-type"] = { "application/json" }, ["x-api-key"] = { key } }

-- quoted writes a JSON string. Bytes that are no UTF-8 stay as they are, and loginguard refuses
-- them: to drop them would make one account out of two.
local function quoted(s)
  return '"' .. s:gsub('[%c"\\]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
end

local function decoded(s)
  return (s:gsub("+", " "):gsub("%%(%x%x)", function(h) return string.char(tonumber(h, 16)) end))
end

-- account returns the name in the form, or nil where two readers of it could see two names: the
-- application might take the last of two fields, or the one in the query.
local function account(txn)
  local kind = (txn.f:req_fhdr("content-type") or ""):lower():gsub("%s*;.*$", "")
  local body = txn.f:req_body() or ""
  if kind ~= "application/x-www-form-urlencoded" or #body ~= (txn.f:req_body_size() or -1) then
    return nil
  end
  local found
  for part in (body .. "&" .. (txn.f:query() or "")):gmatch("[^&]+") do
    local name, value = part:match("^([^=]*)=?(.*)$")
    if decoded(name) == field then
      if found then return nil end
      found = decoded(value)
    end
  end
  return found
end

core.register_action("loginguard_check", { "http-req" }, function(txn)
  txn:set_var("txn.guard_retry", "5")
  local name = account(txn)
  if not name or name == "" then
    txn:set_var("txn.guard_status", 400)
    return
  end
  -- httpclient repeats a request that timed out up to three times. With an id of its own the
  -- attempt is charged once, however often it is asked about.
  local body = string.format('{"account":%s,"ip":%s,"id":%s}', quoted(name), quoted(txn.f:src()), quoted(txn.f:uuid()))
  local res = core.httpclient():post{ url = guard .. "/v1/check", headers = headers, body = body, timeout = 500 }
  local function header(h) return res and res.headers and res.headers[h] and res.headers[h][0] or "" end
  local status = res and res.status or 0
  if status == 200 and not (res.body or ""):find('"decision":"allow"', 1, true) then status = 0 end
  txn:set_var("txn.guard_status", status)
  txn:set_var("txn.guard_rl", header("ratelimit"))
  txn:set_var("txn.guard_rlp", header("ratelimit-policy"))
  if header("retry-after") ~= "" then txn:set_var("txn.guard_retry", header("retry-after")) end
  local attempt = (res and res.body or ""):match('"attempt":"([%w_-]+)"')
  if status == 200 and attempt then txn:set_var("txn.guard_attempt", attempt) end
end)

core.register_action("loginguard_report", { "http-res" }, function(txn)
  local outcome = succeeded(txn.f:status()) and '"success"' or '"failure","reason":"bad_password"'
  local body = string.format('{"attempt":%s,"outcome":%s}', quoted(txn:get_var("txn.guard_attempt")), outcome)
  core.httpclient():post{ url = guard .. "/v1/report", headers = headers, body = body, timeout = 500 }
end)
