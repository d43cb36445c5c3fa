-- The requests of `npm run bench -- http`, for wrk. KEYS: API keys, separated by spaces; each request uses the next one.
local keys = {}
for key in os.getenv("KEYS"):gmatch("%S+") do keys[#keys + 1] = key end

local body = '{"model":"fast","input":"Rewrite this for a client: the meeting on Tuesday is moved to Thursday at ten.","max_output_tokens":64}'
local last = 0

function request()
  last = last % #keys + 1
  local headers = { ["authorization"] = "Bearer " .. keys[last], ["content-type"] = "application/json" }
  return wrk.format("POST", nil, headers, body)
end
