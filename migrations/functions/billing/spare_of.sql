-- What a bucket has left to requests in the background, at p_now: p_spare as it was at p_since, and what the bucket had no room for since then. Of the
-- time before its level was last written, nothing is known, so nothing of it counts. All in 60 millionths of a request or token; at most what the
-- bucket gains in ten seconds, and one request. Null without such a limit.
create or replace function spare_of(p_spare bigint, p_since timestamptz, p_level bigint, p_level_at timestamptz, p_now timestamptz,
  p_per_minute integer, p_lent bigint) returns bigint language sql immutable
return least(greatest(p_per_minute * 10000000::bigint, 60000000),
  p_spare + greatest(0, refilled(0, greatest(p_since, p_level_at), p_now, p_per_minute, 0) - greatest(0, p_per_minute * 60000000::bigint - p_lent
    - refilled(p_level, p_level_at, greatest(p_since, p_level_at), p_per_minute, p_lent))));
