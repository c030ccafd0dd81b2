-- Hot loops, tables, strings, coroutines and the foreign function interface: what luajit.sh runs.
local ffi = require 'ffi'
ffi.cdef [[ int abs(int); void qsort(void *, size_t, size_t, int (*)(const int *, const int *)); double pow(double, double); ]]
local sum = 0 for i = 1, 2e6 do sum = (sum + ffi.C.abs(-i) * 3) % 1000003 end print(sum)
local t = {} for i = 1, 2e5 do t[#t + 1] = (i * 7919) % 100003 end table.sort(t) print(t[1], t[1000], #t)
local numbers = ffi.new('int[50]') for i = 0, 49 do numbers[i] = (i * 37) % 53 end
local compare = ffi.cast('int (*)(const int *, const int *)', function(a, b) return a[0] - b[0] end)
ffi.C.qsort(numbers, 50, 4, compare) print(numbers[0], numbers[25], numbers[49], ffi.C.pow(2, 0.5))
local co = coroutine.wrap(function() for i = 1, 1e5 do coroutine.yield(i) end return -1 end)
local total = 0 for i = 1, 1e5 do total = total + co() end print(total, co())
local parts = {} for i = 1, 20000 do parts[#parts + 1] = ('%x'):format(i * 48271 % 65537) end local text = table.concat(parts, ' ')
print(#text, select(2, text:gsub('(%x)%1', '%1')), text:find('dead') or 'none') local bit = require 'bit'
local h = 0 for i = 1, #text do h = bit.bxor(bit.rol(h, 5), text:byte(i)) end print(bit.tohex(h))
print(pcall(function() local x = nil; return x.field end)) print(select(2, pcall(error, { code = 5 })).code)
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end print(fib(27), 2 ^ 53, 1 / 0, tostring(0 / 0):match('nan'))
local big = ffi.new('double[?]', 1000) for k = 1, 300 do for i = 0, 999 do big[i] = big[i] * 0.5 + i * k end end print(big[999]) os.exit(6)
