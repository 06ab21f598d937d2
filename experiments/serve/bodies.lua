-- For wrk: posts the lines of the file that the environment variable BODIES names, one after the other.
local bodies, at = {}, 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"

function init()
    for line in io.lines(os.getenv("BODIES")) do
        bodies[#bodies + 1] = line
    end
end

function request()
    at = at % #bodies + 1
    return wrk.format(nil, nil, nil, bodies[at])
end
