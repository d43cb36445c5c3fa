-- Writes charges to the ledger, and adds them to the sums of their day and of their tags. Its callers set how it is planned.
create or replace function record_charges(p_now timestamptz, p_charges timed_charge[]) returns void
language plpgsql
set search_path from current
as $$
begin
  with charged as (
    insert into ledger (at, request_id, account_id, key_id, person_id, model, client_id, input_tokens, output_tokens,
        input_price, output_price, cost, stop_reason, usage_source, uncharged_input, uncharged_output, milliseconds,
        cached_tokens, cache_write_tokens, cached_price, cache_write_price, tags)
      select p_now, c.id, c.account, c.key, c.person, c.model, c.client, c.input, c.output, c.input_price,
        c.output_price, c.cost, c.stop, c.source, c.uncharged_input, c.uncharged_output, c.milliseconds,
        coalesce(c.cached, 0), coalesce(c.cache_write, 0), c.cached_price, c.cache_write_price, c.tags
      from unnest(p_charges) c
  )
  insert into usage_day as u
      (day, account_id, key_id, person_id, model, client_id, requests, input_tokens, output_tokens, cached_tokens,
      cache_write_tokens, cost)
    select (p_now at time zone 'UTC')::date, c.account, c.key, c.person, c.model, c.client, count(*), sum(c.input),
      sum(c.output), sum(coalesce(c.cached, 0)), sum(coalesce(c.cache_write, 0)), sum(c.cost)
    from unnest(p_charges) c group by c.account, c.key, c.person, c.model, c.client
  on conflict (account_id, day, key_id, person_id, model, client_id) do update set
    requests = u.requests + excluded.requests, input_tokens = u.input_tokens + excluded.input_tokens,
    output_tokens = u.output_tokens + excluded.output_tokens, cached_tokens = u.cached_tokens + excluded.cached_tokens,
    cache_write_tokens = u.cache_write_tokens + excluded.cache_write_tokens, cost = u.cost + excluded.cost;
  if exists (select from unnest(p_charges) c where c.tags is not null) then
    perform count_tags((p_now at time zone 'UTC')::date, p_charges);
  end if;
end $$;
