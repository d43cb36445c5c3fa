-- The level of a bucket at p_now. In a minute it gains p_per_minute, which is also the most it holds, less what is lent to instances: both
-- the level and p_lent are in 60 millionths of a request or token. 0 if there is no such limit.
create or replace function refilled(p_level bigint, p_since timestamptz, p_now timestamptz, p_per_minute integer, p_lent bigint)
returns bigint language sql immutable
return least(greatest(0, p_per_minute * 60000000::bigint - p_lent),
  p_level + least(60000000, greatest(0, date_part('epoch', p_now - p_since) * 1000000))::bigint * p_per_minute);
