-- Tables, sorting, strings, closures and calls; the argument is the number of records.
local count = tonumber((...))

local state = 1
local function next_number()
    state = (state * 1103515245 + 12345) & 0x7fffffff
    return state >> 8
end

local records = {}
for i = 1, count do
    records[i] = { id = i, key = next_number(), name = "record " .. next_number() % 5000, weight = next_number() / 7 }
end
table.sort(records, function(a, b) return a.key < b.key or (a.key == b.key and a.id < b.id) end)

local groups, names = {}, {}
for _, record in ipairs(records) do
    local group = groups[record.name]
    if not group then
        group = { count = 0, weight = 0.0 }
        groups[record.name] = group
        names[#names + 1] = record.name
    end
    group.count = group.count + 1
    group.weight = group.weight + record.weight
end
table.sort(names)

local words = {}
for i, name in ipairs(names) do
    words[i] = string.format("%s=%d:%.3f", name:upper():gsub("RECORD", "r"), groups[name].count, groups[name].weight)
end
local text = table.concat(words, ";")

local digits = {}
for word, number in text:gmatch("(%a+)[^=]*=(%d+)") do
    digits[word .. number] = (digits[word .. number] or 0) + 1
end
local kinds = 0
for _ in pairs(digits) do kinds = kinds + 1 end

local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end

local queens = 0
local function place(row, columns, left, right, all)
    if columns == all then queens = queens + 1 return end
    local free = all & ~(columns | left | right)
    while free ~= 0 do
        local bit = free & -free
        free = free ~ bit
        place(row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1, all)
    end
end
place(1, 0, 0, 0, (1 << 8) - 1)

print(#text, kinds, fib(24), queens, records[1].key, records[#records].key)
