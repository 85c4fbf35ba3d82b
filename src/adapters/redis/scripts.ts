// The scripts that read entries, claim and renew work, and append events.

import { CLOCK, type Script, script } from './write-script.js';

/** Reads an entry with the time until it expires. Keys: the entry. Returns nothing if there is none. */
export const GET: Script = script(`
local entry = redis.call('GET', KEYS[1])
return entry and { entry, redis.call('PTTL', KEYS[1]) }
`);

/**
 * Reads a page of the entries of a partition, and forgets the names of expired entries that it meets. Looks at a bounded number of
 * names. Keys: the index. Arguments: what the keys of entries begin with, the first name as a bound of ZRANGE, the prefix of the
 * names, and the largest number of entries. Returns the bound to continue from, empty at the end, then name, entry and the time
 * until it expires for each entry.
 */
export const PAGE: Script = script(`
local entries, from, to, limit = ARGV[1], ARGV[2], '(' .. ARGV[3] .. '\\255', tonumber(ARGV[4])
local page, found = { '' }, 0
for _ = 1, 20 do
  local names = redis.call('ZRANGE', KEYS[1], from, to, 'BYLEX', 'LIMIT', 0, limit - found)
  if #names == 0 then
    page[1] = ''
    return page
  end
  for _, name in ipairs(names) do
    local entry = redis.call('GET', entries .. name)
    if entry then
      found = found + 1
      page[#page + 1] = name
      page[#page + 1] = entry
      page[#page + 1] = redis.call('PTTL', entries .. name)
    else
      redis.call('ZREM', KEYS[1], name)
    end
    from = '(' .. name
  end
  page[1] = from
  if found == limit then return page end
end
return page
`);

/**
 * Claims work that is due, the longest due first. Keys: counter, due times and leases of each partition. Arguments: the largest
 * number of leases, the time until they end, and the owner. Returns key, token and attempt of each lease.
 */
export const CLAIM: Script = script(`${CLOCK}
local limit = tonumber(ARGV[1])
local due = {}
for at = 1, #KEYS, 3 do
  local found = redis.call('ZRANGE', KEYS[at + 1], '-inf', digits(micros), 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES')
  for i = 1, #found, 2 do due[#due + 1] = { at = at, name = found[i], time = tonumber(found[i + 1]) } end
end
table.sort(due, function(a, b) return a.time < b.time end)

local leases, touched, last = {}, {}, 0
for i = 1, math.min(limit, #due) do
  local at, name = due[i].at, due[i].name
  local counter, times, work = KEYS[at], KEYS[at + 1], KEYS[at + 2]
  local _, attempt = work_of(work, name)
  last = math.max(last, touched[counter] or last_of(counter)) + 1
  attempt = digits(tonumber(attempt or 0) + 1)
  redis.call('HSET', work, name, digits(last) .. ' ' .. attempt .. ' ' .. ARGV[3])
  redis.call('ZADD', times, due_in(ARGV[2]), name)
  touched[counter] = last
  leases[#leases + 1] = name
  leases[#leases + 1] = digits(last)
  leases[#leases + 1] = attempt
end
for counter, number in pairs(touched) do redis.call('SET', counter, digits(number)) end
return leases
`);

/**
 * Extends leases. Keys: due times and leases for each. Arguments: the time until they end, then key and token of each. Returns 1
 * for each that is still held, and 0 for each that is not.
 */
export const RENEW: Script = script(`${CLOCK}
local held = {}
for at = 1, #KEYS, 2 do
  local name, token = ARGV[at + 1], ARGV[at + 2]
  local is_held = work_of(KEYS[at + 1], name) == token
  if is_held then redis.call('ZADD', KEYS[at], 'XX', due_in(ARGV[1]), name) end
  held[#held + 1] = is_held and 1 or 0
end
return held
`);

/**
 * Appends an event. Each event has the id of the one before it, so that a reader knows whether events are missing, and the number
 * of bytes of the stream up to and with it. Ids come from the counter of the partition: they do not start again with a stream that
 * was dropped. Keys: the counter, the stream and its facts. Arguments: the data, its encoding, 1 if it is the last event, the
 * limits (events, bytes, milliseconds), and the channel that is told. Returns the id.
 */
export const APPEND: Script = script(`${CLOCK}
local counter, stream, facts = KEYS[1], KEYS[2], KEYS[3]
local max_events, max_bytes = tonumber(ARGV[4]), tonumber(ARGV[5])
local known = redis.call('HMGET', facts, 'id', 'bytes', 'dropped')
local bytes, dropped = tonumber(known[2] or 0) + #ARGV[1], tonumber(known[3] or 0)
local id, total = digits(last_of(counter) + 1), digits(bytes)
redis.call('XADD', stream, id .. '-0', 'p', known[1] or '', 'b', total, 'e', ARGV[2], 'l', ARGV[3], 'd', ARGV[1])
redis.call('SET', counter, id)
local events = redis.call('XLEN', stream)
while events > 1 and (events > max_events or bytes - dropped > max_bytes) do
  local oldest = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1][2]
  dropped = tonumber(oldest[4])
  events = events - 1
  redis.call('XTRIM', stream, 'MAXLEN', '=', events)
end
redis.call('HSET', facts, 'id', id, 'bytes', total, 'dropped', digits(dropped))
redis.call('PEXPIRE', stream, ARGV[6])
redis.call('PEXPIRE', facts, ARGV[6])
redis.call('PUBLISH', ARGV[7], id)
return id
`);

/**
 * Reads the events after another one. Keys: the stream. Arguments: the id, the largest number of events. Returns nothing if there
 * is no such stream. Otherwise 1 if no event is missing in between; 1 if the event with that id is the last one; then id, encoding,
 * 1 if it is the last one, and data of each event. A reply with more than a megabyte ends early.
 */
export const READ: Script = script(`
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local after, limit = ARGV[1], tonumber(ARGV[2])
local is_complete, has_ended, found, bytes, from = nil, false, {}, 0, after .. '-0'
while #found < limit and bytes < 1048576 do
  local events = redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', 16)
  if #events == 0 then break end
  for _, event in ipairs(events) do
    local id, fields = string.match(event[1], '^%d+'), event[2]
    if is_complete == nil then is_complete = id == after or fields[2] == after end
    if id == after then
      has_ended = fields[8] == '1'
    elseif #found < limit and bytes < 1048576 then
      found[#found + 1] = { id, fields[6], fields[8], fields[10] }
      bytes = bytes + #fields[10]
    end
    from = '(' .. event[1]
  end
end
return { is_complete and 1 or 0, has_ended and 1 or 0, found }
`);

/**
 * Publishes a message. Key: the channel. As a script, because client libraries send a plain PUBLISH to any node of a cluster:
 * messages over different nodes would overtake each other.
 */
export const PUBLISH: Script = script(`return redis.call('PUBLISH', KEYS[1], ARGV[1])`);
