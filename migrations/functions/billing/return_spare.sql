-- Returns what a request in the background has taken with take_spare() and not used.
create or replace function return_spare(p_account uuid, p_limit uuid, p_requests bigint, p_tokens bigint) returns void language sql set search_path from current
as $$
  update spare set requests = requests + p_requests * 60000000, tokens = tokens + p_tokens * 60000000
  from (select id from spare where id in (p_account, p_limit) order by id for no key update) s where spare.id = s.id
$$;
