-- The till: the one place where money is held and charged and where limits are applied.
--
-- One call carries everything that one instance has to settle and to admit, in one transaction. It locks first the
-- instance's row, then the accounts of the batch in id order, then touches anything else; reap() does the same, so
-- that they cannot deadlock. Every item is safe to send again after a lost connection: an admission by the id of its
-- hold, a settlement by the ledger row with that id. tests/support/till-model.ts
-- states the same rules in TypeScript, and a property test holds the two against each other.

-- Settles, then admits, in the order given. p_now is for tests; the till itself leaves it null.
--
-- p_settle: [{hold, input, output, stop, source, headers?, body?}]; without stop the hold is released uncharged.
-- p_admit:  [{hold, account, key, model, client, input, output, input_price, output_price, idem, hash, requests}];
--           without model nothing is held: only the requests (0 or 1) are taken from the limit.
-- Outcomes: settled, released, and no row at all where the hold had been given up; admitted, no_billing_account,
--           insufficient_credit, credit_held, requests, tokens, never_fits, replay, in_progress, mismatch.
create function till(p_instance uuid, p_batch bigint, p_settle jsonb, p_admit jsonb, p_now timestamptz default null)
returns table (id uuid, outcome text, request_level bigint, token_level bigint, requests_per_minute integer,
               tokens_per_minute integer, wait_us bigint, cost amount, headers jsonb, body text)
language plpgsql
-- The tables it works on are empty one second and full of dead rows the next: the plan must not depend on that.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  c_unit constant bigint := 60000000;
  v_now timestamptz;
  v_month date;
  v_passed bigint;
  a account;
  x record;
  i idempotency;
  v_need bigint;
  v_cost numeric;
  v_credit numeric;
  v_gone integer := 0;
  v_ledger ledger[] := '{}';
  v_holds hold[] := '{}';
  v_accounts account[] := '{}';
begin
  update instance set seen_at = clock_timestamp(), last_batch = p_batch
    where instance.id = p_instance and last_batch < p_batch;
  if not found then
    raise exception 'instance % is given up or has sent batch % before', p_instance, p_batch using errcode = 'TG001';
  end if;

  perform 1 from account where account.id in (
    select account_id from hold where hold.id in (select (s ->> 'hold')::uuid from jsonb_array_elements(p_settle) s)
    union all select (s ->> 'account')::uuid from jsonb_array_elements(p_admit) s)
  order by account.id for no key update;
  v_now := coalesce(p_now, clock_timestamp());
  v_month := date_trunc('month', v_now at time zone 'UTC')::date;

  -- Account by account, first what it settles, then what it asks for, in the order given. The loop decides in memory;
  -- but for idempotency keys, what it decided is written after it, in one statement a table.
  for x in
    with gone as (
      delete from hold using jsonb_to_recordset(p_settle) as s(
        hold uuid, input integer, output integer, stop text, source text, headers jsonb, body text)
      where hold.id = s.hold
      returning hold.*, s.input, s.output, s.stop, s.source, s.headers, s.body
    ), item as (
      select true as settles, 0::bigint as n, gone.id as hold, account_id as account, key_id as key, model,
        client_id as client, input_tokens, max_output_tokens, input, output, input_price, output_price, cost as held,
        idempotency_key as idem, null as hash, 0 as requests, stop, source, headers, body, false as held_already
      from gone
      union all
      select false, n, s.hold, account, key, s.model, client, null, null, input, output, s.input_price, s.output_price,
        null, idem, hash, requests, null, null, null, null, earlier.id is not null
      from rows from (jsonb_to_recordset(p_admit) as (
        hold uuid, account uuid, key uuid, model text, client uuid, input integer, output integer, input_price bigint,
        output_price bigint, idem text, hash text, requests integer)) with ordinality as s(
        hold, account, key, model, client, input, output, input_price, output_price, idem, hash, requests, n)
      left join hold earlier on earlier.id = s.hold
        and not exists (select from jsonb_array_elements(p_settle) e where (e ->> 'hold')::uuid = s.hold)
    )
    select item.*, b as account_row from item left join account b on b.id = item.account
    order by item.account, settles desc, n
  loop
    if a.id is distinct from x.account then
      if a.id is not null then v_accounts := v_accounts || a; end if;
      a := x.account_row;
      -- The buckets brought up to now, and the month turned if a new one has begun.
      v_passed := least(60000000, greatest(0, (extract(epoch from v_now - a.level_at) * 1000000)::bigint));
      a.request_level := least(a.requests_per_minute * c_unit, a.request_level + v_passed * a.requests_per_minute);
      a.token_level := least(a.tokens_per_minute * c_unit, a.token_level + v_passed * a.tokens_per_minute);
      a.level_at := greatest(a.level_at, v_now);
      if a.month < v_month then
        a.month := v_month;
        a.month_charged := 0;
      end if;
    end if;
    id := x.hold;
    wait_us := null;
    headers := null;
    body := null;

    if x.settles then
      v_gone := v_gone + 1;
      outcome := case when x.stop is null then 'released' else 'settled' end;
      cost := 0;
      v_need := x.input_tokens::bigint + x.max_output_tokens;
      if x.stop is not null then
        cost := x.input::numeric * x.input_price + x.output::numeric * x.output_price;
        v_need := v_need - x.input - x.output;
        v_ledger := v_ledger || row(v_now, x.hold, x.account, x.key, x.model, x.client, x.input, x.output,
          x.input_price, x.output_price, cost, x.stop, x.source)::ledger;
      end if;
      a.held := a.held - x.held;
      a.charged := a.charged + cost;
      a.month_charged := a.month_charged + cost;
      a.token_level := greatest(0, least(a.tokens_per_minute * c_unit, a.token_level + v_need * c_unit));
      if x.idem is not null and x.body is null then
        delete from idempotency where account_id = x.account and key = x.idem and hold_id = x.hold;
      elsif x.idem is not null then
        update idempotency set headers = x.headers, body = x.body
          where account_id = x.account and key = x.idem and hold_id = x.hold;
      end if;

    else
      v_need := (x.input::bigint + x.output) * c_unit;
      v_cost := x.input::numeric * x.input_price + x.output::numeric * x.output_price;
      v_credit := coalesce(a.monthly_limit - a.month_charged, a.credited - a.charged);
      cost := v_cost;
      i := null;
      if x.idem is not null then
        select * into i from idempotency
          where account_id = x.account and key = x.idem and created_at > v_now - interval '24 hours';
      end if;
      outcome := case
        when a.id is null or a.status <> 'open' then 'no_billing_account'
        when x.held_already then 'admitted' -- by an earlier call whose answer was lost on its way
        when i.request_hash <> x.hash then 'mismatch'
        when i.body is not null then 'replay'
        when i.hold_id is not null then 'in_progress'
        when v_need > a.tokens_per_minute * c_unit then 'never_fits'
        when v_cost > v_credit then 'insufficient_credit'
        when v_cost > v_credit - a.held then 'credit_held'
        when a.request_level < x.requests * c_unit then 'requests'
        when a.token_level < v_need then 'tokens'
        else 'admitted'
      end;
      if outcome = 'replay' then
        headers := i.headers;
        body := i.body;
      elsif outcome in ('requests', 'tokens') then
        -- Until neither limit refuses it.
        wait_us := greatest(ceil((x.requests * c_unit - a.request_level)::numeric / a.requests_per_minute),
                            ceil((v_need - a.token_level)::numeric / a.tokens_per_minute));
      elsif outcome = 'admitted' and not x.held_already then
        a.request_level := a.request_level - x.requests * c_unit;
        a.token_level := a.token_level - v_need;
        if x.model is not null then
          a.held := a.held + v_cost;
          v_holds := v_holds || row(x.hold, x.account, x.key, p_instance, x.model, x.client, x.input, x.output,
            x.input_price, x.output_price, v_cost, x.idem, v_now)::hold;
        end if;
        if x.idem is not null then
          insert into idempotency values (x.account, x.idem, x.hash, x.hold, v_now)
          on conflict (account_id, key) do update set request_hash = excluded.request_hash,
            hold_id = excluded.hold_id, created_at = excluded.created_at, headers = null, body = null;
        end if;
      end if;
    end if;

    request_level := a.request_level;
    token_level := a.token_level;
    requests_per_minute := a.requests_per_minute;
    tokens_per_minute := a.tokens_per_minute;
    return next;
  end loop;
  if a.id is not null then v_accounts := v_accounts || a; end if;

  if v_gone < jsonb_array_length(p_settle) then
    -- Those settled by an earlier call whose answer was lost on its way.
    return query
    select l.request_id, 'settled', b.request_level, b.token_level, b.requests_per_minute, b.tokens_per_minute,
      null::bigint, l.cost, null::jsonb, null::text
    from jsonb_array_elements(p_settle) s
    join ledger l on l.request_id = (s ->> 'hold')::uuid and l.at > v_now - interval '1 day'
    join account b on b.id = l.account_id;
  end if;
  if v_ledger <> '{}' then
    insert into ledger select * from unnest(v_ledger);
    insert into usage_day as u
      select (v_now at time zone 'UTC')::date, account_id, key_id, model, client_id, count(*), sum(input_tokens),
        sum(output_tokens), sum(cost)
      from unnest(v_ledger) group by account_id, key_id, model, client_id
    on conflict (account_id, day, key_id, model, client_id) do update set
      requests = u.requests + excluded.requests, input_tokens = u.input_tokens + excluded.input_tokens,
      output_tokens = u.output_tokens + excluded.output_tokens, cost = u.cost + excluded.cost;
  end if;
  if v_holds <> '{}' then
    insert into hold select * from unnest(v_holds);
  end if;
  update account set charged = t.charged, held = t.held, month = t.month, month_charged = t.month_charged,
    request_level = t.request_level, token_level = t.token_level, level_at = t.level_at
  from unnest(v_accounts) t where account.id = t.id;
end $$;

-- Gives up one instance that has not been heard of for p_lease: its holds are released uncharged. Tokens taken from
-- the limits are not given back, since nobody knows how many were used; they refill within the minute.
-- Returns the instance, or null when every one of them lives.
create function reap(p_lease interval) returns uuid language plpgsql as $$
declare
  v_instance uuid;
begin
  select id into v_instance from instance where seen_at < clock_timestamp() - p_lease
    order by seen_at limit 1 for update skip locked;
  if v_instance is null then return null; end if;
  perform 1 from account where id in (select account_id from hold where instance_id = v_instance)
    order by id for no key update;
  with gone as (
    delete from hold where instance_id = v_instance returning *
  ), forgotten as (
    delete from idempotency using gone
    where idempotency.account_id = gone.account_id and idempotency.key = gone.idempotency_key
      and hold_id = gone.id
  )
  update account set held = account.held - g.held
  from (select account_id, sum(cost) as held from gone group by account_id) g where account.id = g.account_id;
  delete from instance where id = v_instance;
  return v_instance;
end $$;
