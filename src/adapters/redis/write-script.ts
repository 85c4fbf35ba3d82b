// The script of a write: checks all conditions, then makes all changes.

import { createHash } from 'node:crypto';

/** A script that Redis runs without interruption. */
export interface Script {
  readonly source: string;
  readonly sha1: string;
}

/** Makes a script. Redis knows it by the hash of its source. */
export function script(source: string): Script {
  return { source, sha1: createHash('sha1').update(source).digest('hex') };
}

/**
 * The clock of the server, and numbers that grow. A number is at least the time in microseconds, so that numbers do not repeat
 * even if Redis lost its last writes in a power cut or a failover. They are smaller than 2^53 until the year 2255.
 */
export const CLOCK = `
local time = redis.call('TIME')
local micros = tonumber(time[1]) * 1000000 + tonumber(time[2])
local millis = math.floor(micros / 1000)
local function digits(number) return string.format('%.0f', number) end
local function last_of(counter) return math.max(tonumber(redis.call('GET', counter) or 0), micros) end
-- When work is due, in microseconds.
local function due_in(ms) return digits(micros + tonumber(ms) * 1000) end
-- The token and the attempt of work; the token is 0 if nobody holds it.
local function work_of(hash, name)
  local work = redis.call('HGET', hash, name)
  if not work then return nil end
  return string.match(work, '^(%d+) (%d+) ')
end
`;

// The first write of a script decides whether Redis, if its memory is full, refuses the script: it must be one that needs memory,
// unless all of them free memory. So expired names are swept last.
const SOURCE = `${CLOCK}
local COUNTER, INDEX, EXPIRIES = KEYS[1], KEYS[2], KEYS[3]
local entries = ARGV[1]

-- The numbers of keys and of arguments of each change.
local shapes = {
  guard = { 1, 2 }, put = { 1, 4 }, delete = { 1, 2 }, count = { 1, 4 }, append = { 2, 3 }, drop = { 2, 0 }, expect = { 1, 1 },
  enqueue = { 2, 4 }, release = { 2, 3 }, dequeue = { 2, 1 },
}
local changes = {}
local key, arg = 4, 2
while ARGV[arg] do
  local kind = ARGV[arg]
  changes[#changes + 1] = {
    kind = kind, key = KEYS[key], other = KEYS[key + 1],
    a = ARGV[arg + 1], b = ARGV[arg + 2], c = ARGV[arg + 3], d = ARGV[arg + 4],
  }
  key = key + shapes[kind][1]
  arg = arg + 1 + shapes[kind][2]
end

local last
local function next_number()
  last = (last or last_of(COUNTER)) + 1
  return digits(last)
end

local function is_version(entry, condition)
  if condition == '' then return true end
  local version = string.match(redis.call('GETRANGE', entry, 0, 20), '^(%d+) ')
  if condition == 'absent' then return version == nil end
  return condition == '=' .. (version or '')
end

local function count_of(entry)
  local stored = redis.call('GET', entry)
  if not stored then return 0, true end
  local ok, value = pcall(cjson.decode, string.match(stored, '^%d+ (.*)$'))
  return ok and type(value) == 'table' and tonumber(value.count) or 0, false
end

local function is_met(change, kind)
  if kind == 'guard' then return work_of(change.key, change.a) == change.b end
  if kind == 'put' then return is_version(change.key, change.c) end
  if kind == 'delete' then return is_version(change.key, change.b) end
  if kind == 'append' then return redis.call('SISMEMBER', change.other, change.a) == 0 end
  if kind == 'expect' then return redis.call('XLEN', change.key) == tonumber(change.a) end
  if kind == 'enqueue' then return change.c == '' or redis.call('HEXISTS', change.other, change.a) == 0 end
  if kind == 'count' then
    local by = tonumber(change.b)
    return change.c == '' or by <= 0 or count_of(change.key) + by <= tonumber(change.c)
  end
  return true
end
for at, change in ipairs(changes) do
  if not is_met(change, change.kind) then return { 0, at - 1 } end
end

local function remove(change)
  redis.call('DEL', change.key)
  redis.call('ZREM', INDEX, change.a)
  redis.call('ZREM', EXPIRIES, change.a)
end

local adds_expiry = false
local function store(change, json, ttl)
  local value = next_number() .. ' ' .. json
  if ttl == '' then
    redis.call('SET', change.key, value, 'KEEPTTL')
  else
    redis.call('SET', change.key, value, 'PX', ttl)
    redis.call('ZADD', EXPIRIES, digits(millis + tonumber(ttl)), change.a)
    adds_expiry = true
  end
  redis.call('ZADD', INDEX, 0, change.a)
end

local lease = ''
local function make(change, kind)
  if kind == 'put' then
    store(change, change.b, change.d)
  elseif kind == 'delete' then
    remove(change)
  elseif kind == 'count' then
    local count, is_new = count_of(change.key)
    count = math.max(0, count + tonumber(change.b))
    if count == 0 then return remove(change) end
    local whole = count == math.floor(count) and count < 1e15
    store(change, '{"count":' .. (whole and digits(count) or string.format('%.17g', count)) .. '}', is_new and change.d or '')
  elseif kind == 'append' then
    redis.call('XADD', change.key, next_number() .. '-0', 'n', change.a, 'v', change.b)
    redis.call('SADD', change.other, change.a)
    if change.c == '' then return end
    redis.call('PEXPIRE', change.key, change.c)
    redis.call('PEXPIRE', change.other, change.c)
  elseif kind == 'drop' then
    redis.call('DEL', change.key, change.other)
  elseif kind == 'enqueue' and change.c ~= '' then
    lease = next_number()
    redis.call('HSET', change.other, change.a, lease .. ' 1 ' .. change.d)
    redis.call('ZADD', change.key, due_in(change.c), change.a)
  elseif kind == 'enqueue' then
    local token = work_of(change.other, change.a)
    if token == nil then redis.call('HSET', change.other, change.a, '0 0 ') end
    if token == nil or token == '0' then redis.call('ZADD', change.key, 'LT', due_in(change.b), change.a) end
  elseif kind == 'release' then
    local _, attempt = work_of(change.other, change.a)
    redis.call('HSET', change.other, change.a, '0 ' .. (change.c == '' and '0' or attempt) .. ' ')
    redis.call('ZADD', change.key, due_in(change.b), change.a)
  elseif kind == 'dequeue' then
    redis.call('HDEL', change.other, change.a)
    redis.call('ZREM', change.key, change.a)
  end
end
for _, change in ipairs(changes) do make(change, change.kind) end
if last then redis.call('SET', COUNTER, digits(last)) end

if not adds_expiry then return { 1, lease } end

-- Forgets the names of a few entries that have expired: more than this write has added.
local expired = redis.call('ZRANGE', EXPIRIES, '-inf', digits(millis), 'BYSCORE', 'LIMIT', 0, #changes + 2)
for _, name in ipairs(expired) do
  local expires = redis.call('PEXPIRETIME', entries .. name)
  if expires > 0 then
    redis.call('ZADD', EXPIRIES, digits(expires), name)
  else
    redis.call('ZREM', EXPIRIES, name)
    if expires == -2 then redis.call('ZREM', INDEX, name) end
  end
end
return { 1, lease }
`;

/**
 * Makes the changes of a write, or none of them.
 *
 * Keys: counter, index and expiries of the partition, then those of each change. Arguments: what the keys of entries begin with,
 * then for each change its kind and its arguments. Returns 1 and the token of the lease that was made, or 0 and the index of the
 * first change whose condition is not met.
 */
export const WRITE: Script = script(SOURCE);
