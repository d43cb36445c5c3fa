-- Returns what a request in the background has taken with take_spare() and not used. As there, a request has at most a minute's worth of tokens.
create or replace function return_spare(p_account uuid, p_limit uuid, p_requests bigint, p_taken bigint, p_used bigint) returns void language sql
set search_path from current
as $$
  update spare set requests = requests + p_requests * 60000000, tokens = tokens + greatest(0, least(p_taken, s.most) - p_used) * 60000000
  from (
    select id, coalesce((select tokens_per_minute from account a where a.id = b.id), (select tokens_per_minute from key_limit k where k.id = b.id), 0) as most
    from spare b where id in (p_account, p_limit) order by id for no key update
  ) s where spare.id = s.id
$$;
drop function if exists return_spare(uuid, uuid, bigint, bigint);
