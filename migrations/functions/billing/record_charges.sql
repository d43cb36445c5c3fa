-- Writes charges to the ledger, and adds them to the sums of their day and of their tags. Its callers set how it is planned.
create or replace function record_charges(p_now timestamptz, p_charges timed_charge[], p_terms jsonb default null) returns void
language plpgsql
set search_path from current
as $$
begin
  perform write_charges(p_now, null, p_charges, p_terms);
  perform count_charges(array(
    select row((p_now at time zone 'UTC')::date, null, null, c.account, c.key, c.person, c.model, c.client, c.tags, count(*), sum(c.input),
      sum(c.output), sum(coalesce(c.cached, 0)), sum(coalesce(c.cache_write, 0)), sum(c.cost), null)::charge_sum
    from unnest(p_charges) c group by c.account, c.key, c.person, c.model, c.client, c.tags));
end $$;
drop function if exists record_charges(timestamptz, timed_charge[]);
drop function if exists count_tags(date, timed_charge[]);
