-- Moves holds from an instance's allowances into rows of their own, in one transaction with its reports, which no longer count them
-- as held. The request of such a hold used more than was held for it, and only till() can tell what else can be charged. Nothing is
-- checked: the money is held before and after, whatever has become of the account or the key since. The tokens stay taken.
--
-- p_holds: [{hold, account, key, person, model, client, input, output, input_price, output_price, cached_price, cache_write_price, tags, fixed}]
-- p_terms: as in write_charges().
create or replace function exchange_moving(p_instance uuid, p_batch bigint, p_reports account_report[], p_charges timed_charge[],
  p_key_reports key_report[], p_holds jsonb, p_budget_reports key_report[] default '{}', p_terms jsonb default null)
returns table (id uuid, granted boolean, request_level bigint, token_level bigint, requests_per_minute per_minute,
               tokens_per_minute per_minute)
language plpgsql
set enable_seqscan = off
set search_path from current
as $$
begin
  -- Locks the accounts of the holds, too: each has a report.
  return query select * from exchange_timed(p_instance, p_batch, p_reports, p_charges, p_key_reports,
    p_budget_reports => p_budget_reports, p_terms => p_terms);
  with moved as (
    insert into hold as h (id, account_id, key_id, person_id, instance_id, model, client_id, input_tokens, max_output_tokens,
        input_price, output_price, cost, created_at, cached_price, cache_write_price)
      select hold, account, key, person, p_instance, model, client, input, output, input_price, output_price,
        input::numeric * greatest(input_price, cached_price, cache_write_price) + output::numeric * output_price
          + coalesce(fixed, 0), clock_timestamp(), cached_price, cache_write_price
      from jsonb_to_recordset(p_holds) as (
        hold uuid, account uuid, key uuid, person uuid, model text, client uuid, input integer, output integer,
        input_price bigint, output_price bigint, cached_price bigint, cache_write_price bigint, fixed numeric)
    returning h.id, h.account_id, h.key_id, h.cost
  ), limited as (
    update key_limit l set held = l.held + m.cost
    from (
      select limit_id, sum(moved.cost) as cost from moved join api_key on api_key.id = moved.key_id
      where limit_id is not null group by limit_id
    ) m where l.id = m.limit_id
  ), counted as (
    select moved.*, s.tags from moved join account a on a.id = moved.account_id and a.has_budgets
      join jsonb_to_recordset(p_holds) s(hold uuid, tags jsonb) on s.hold = moved.id
  ), tagged as (
    insert into tagged_hold (hold_id, account_id, tags) select c.id, c.account_id, c.tags from counted c where c.tags is not null
  ), budgeted as (
    update budget e set held = e.held + m.cost
    from (
      select o.id, sum(c.cost) as cost from counted c cross join lateral budgets_of(c.account_id, c.key_id, c.tags) o (id)
      group by o.id
    ) m where e.id = m.id
  )
  update account b set held = b.held + m.cost
  from (select account_id, sum(moved.cost) as cost from moved group by account_id) m where b.id = m.account_id;
end $$;
-- That of version 1.0.0.
drop function if exists exchange_moving(uuid, bigint, account_report[], timed_charge[], key_report[], jsonb);
