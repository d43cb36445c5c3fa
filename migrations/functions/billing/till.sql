-- Settles finished requests, then admits new ones, in one transaction. An admission takes a hold of what it can cost at most from the credit,
-- the budgets, and the limits of account and key; a settlement replaces the hold by its charge. A repeated batch returns what it returned
-- before. Output beyond the hold goes uncharged even if the reply as a whole costs less than was held. An admission with "least" gets as
-- much of its output as the limits and the credit have room for, and at least that many tokens; its row has that output as charged_output.
do $$
begin
  -- That of version 0.2.0 returns fewer columns.
  if exists (select from pg_proc where proname = 'till' and pronamespace = current_schema()::regnamespace and not 'of_limit' = any (proargnames)) then
    drop function till;
  end if;
end $$;
create or replace function till(p_instance uuid, p_batch bigint, p_settle jsonb, p_admit jsonb, p_now timestamptz default null)
returns table (id uuid, of_account uuid, outcome text, request_level bigint, token_level bigint,
               requests_per_minute per_minute, tokens_per_minute per_minute, lent boolean, wait_us bigint, cost amount,
               charged_input integer, charged_output integer, original uuid, headers jsonb, body text, of_limit uuid,
               key_request_level bigint, key_token_level bigint, key_requests_per_minute per_minute,
               key_tokens_per_minute per_minute)
language plpgsql
-- Its tables are empty one second and full of dead rows the next: the plan must not depend on that.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
set search_path from current
as $$
#variable_conflict use_column
declare
  c_unit constant bigint := 60000000;
  v_now timestamptz;
  v_month date;
  v_day date;
  v_passed bigint;
  v_account uuid;
  v_request_most bigint;
  v_token_most bigint;
  v_token_room bigint;
  v_credit numeric; -- without what is held
  v_held numeric;
  v_charge numeric;
  v_hold numeric;
  v_month_before numeric; -- charged this month before this call
  x record;
  i idempotency;
  v_need bigint;
  v_cost numeric;
  v_gone integer := 0;
  v_input bigint; -- of all three kinds
  v_uncharged_output integer;
  v_charges timed_charge[] := '{}';
  v_holds hold[] := '{}';
  v_accounts account_change[] := '{}';
  v_tagged boolean := false; -- whether a charge has tags
  v_limits key_limit[] := '{}'; -- the limits of keys in this call, as they are after the items so far
  v_limit_ids uuid[] := '{}';
  v_limit key_limit; -- the limits of the key of an item; null without any
  v_place integer;
  v_month_left numeric; -- of the budgets of the key, without what is held
  v_day_left numeric;
  v_key_taken numeric; -- of the budgets of the key: held or lent
  v_account_lent boolean; -- whether an instance has an allowance of the account
  v_key_lent boolean; -- the same of the key
begin
  update instance set seen_at = clock_timestamp(), last_batch = p_batch
    where instance.id = p_instance and last_batch < p_batch;
  if not found then
    raise exception 'instance % was reaped, or has sent batch % before', p_instance, p_batch using errcode = 'TG001';
  end if;

  -- Locks the accounts in id order. Processes each account's settlements, then its admissions, in the order given. The
  -- loop decides in memory and writes only idempotency keys; one statement after it writes the rest.
  for x in
    with gone as (
      delete from hold using rows from (jsonb_to_recordset(p_settle) as (
        hold uuid, input integer, output integer, cached integer, cache_write integer, stop text, source text,
        milliseconds integer, tags jsonb, headers jsonb, body text))
        with ordinality as s(hold, input, output, cached, cache_write, stop, source, milliseconds, tags, headers, body, n)
      where hold.id = s.hold
      returning hold.*, s.input, s.output, coalesce(s.cached, 0) as cached,
        coalesce(s.cache_write, 0) as cache_write, s.stop, s.source, s.milliseconds, s.tags, s.headers, s.body, s.n
    ), item as (
      select true as settles, n, gone.id as hold, account_id as account, key_id as key, person_id as person, model,
        client_id as client, input_tokens as held_input, max_output_tokens as held_output, input, output, cached,
        cache_write, input_price, output_price, cached_price, cache_write_price, cost as held,
        idempotency_key as idem, null as hash, 0 as requests, false as earlier, stop, source, milliseconds, tags, headers,
        body, null as least_output
      from gone
      union all
      select false, n, hold, account, key, person, model, client, null, null, input, output, 0, 0, input_price,
        output_price, cached_price, cache_write_price, null, idem, hash, requests,
        -- Admitted by an earlier call whose answer was lost.
        case when again then exists (select from hold where hold.id = s.hold)
          and not exists (select from jsonb_array_elements(p_settle) e where (e ->> 'hold')::uuid = s.hold) end,
        null, null, null, null, null, null, least_output
      from rows from (jsonb_to_recordset(p_admit) as (
        hold uuid, account uuid, key uuid, person uuid, model text, client uuid, input integer, output integer,
        input_price bigint, output_price bigint, cached_price bigint, cache_write_price bigint, idem text, hash text, requests integer,
        again boolean, least integer)) with ordinality as s(hold, account, key, person, model, client, input, output, input_price,
        output_price, cached_price, cache_write_price, idem, hash, requests, again, least_output, n)
    ), b as (
      select account.* from account where account.id in (select account from item) order by account.id for no key update
    )
    select item.*, b.status, b.limits_keys, b.requests_per_minute, b.tokens_per_minute, b.monthly_limit, b.month, b.month_charged,
      b.credited - b.charged as balance, b.held + b.credit_lent as held_before, b.credit_lent,
      b.requests_lent, b.tokens_lent, b.request_level,
      b.token_level, b.level_at
    from item left join b on b.id = item.account
    order by item.account, settles desc, n
  loop
    if v_now is null then
      v_now := coalesce(p_now, clock_timestamp());
      v_day := (v_now at time zone 'UTC')::date;
      v_month := date_trunc('month', v_day)::date;
    end if;
    if v_account is distinct from x.account then
      if v_request_most is not null then
        v_accounts := v_accounts
          || row(v_account, v_charge, v_hold, v_month_before, request_level, token_level)::account_change;
      end if;
      -- Refills the buckets, and changes the month if the clock has.
      v_account := x.account;
      of_account := x.account;
      v_account_lent := x.requests_lent > 0 or x.tokens_lent > 0 or x.credit_lent > 0;
      requests_per_minute := x.requests_per_minute;
      tokens_per_minute := x.tokens_per_minute;
      v_request_most := x.requests_per_minute * c_unit;
      v_token_most := x.tokens_per_minute * c_unit;
      v_passed := least(60000000, greatest(0, (extract(epoch from v_now - x.level_at) * 1000000)::bigint));
      v_token_room := greatest(0, v_token_most - x.tokens_lent);
      request_level := least(greatest(0, v_request_most - x.requests_lent),
        x.request_level + v_passed * x.requests_per_minute);
      token_level := least(v_token_room, x.token_level + v_passed * x.tokens_per_minute);
      v_month_before := x.month_charged;
      if x.month <> v_month then
        v_month_before := charged_since(x.account, v_month);
      end if;
      v_credit := coalesce(x.monthly_limit - v_month_before, x.balance);
      v_held := x.held_before;
      v_charge := 0;
      v_hold := 0;
    end if;
    id := x.hold;
    wait_us := null;
    charged_input := null;
    charged_output := null;
    original := null;
    headers := null;
    body := null;
    if x.settles then
      v_input := x.input::bigint + x.cached + x.cache_write;
      v_cost := tokens_cost(x.input, x.output, x.cached, x.cache_write, x.input_price, x.output_price, x.cached_price,
        x.cache_write_price);
    else
      v_cost := x.input::numeric * greatest(x.input_price, x.cached_price, x.cache_write_price)
        + x.output::numeric * x.output_price;
    end if;
    cost := v_cost;

    v_limit := null;
    v_place := null;
    v_month_left := null;
    v_day_left := null;
    v_key_taken := 0;
    v_key_lent := false;
    if x.limits_keys and x.key is not null then
      -- A statement of its own, so that it reads what was committed before the account was locked.
      select key_limit.* into v_limit from api_key join key_limit on key_limit.id = api_key.limit_id where api_key.id = x.key;
    end if;
    if v_limit.id is not null then
      v_place := array_position(v_limit_ids, v_limit.id);
      if v_place is null then
        v_limit_ids := array_append(v_limit_ids, v_limit.id);
        v_place := cardinality(v_limit_ids);
        v_passed := least(60000000, greatest(0, (extract(epoch from v_now - v_limit.level_at) * 1000000)::bigint));
        if v_limit.requests_per_minute is not null then
          v_limit.request_level := least(greatest(0, v_limit.requests_per_minute - v_limit.requests_lent) * c_unit,
            v_limit.request_level + v_passed * v_limit.requests_per_minute);
        end if;
        if v_limit.tokens_per_minute is not null then
          v_limit.token_level := least(greatest(0, v_limit.tokens_per_minute - v_limit.tokens_lent) * c_unit,
            v_limit.token_level + v_passed * v_limit.tokens_per_minute);
        end if;
        v_limit.level_at := v_now;
        if v_limit.day <> v_day then
          v_limit.day := v_day;
          v_limit.day_charged := key_charged_since(v_limit.id, v_day);
        end if;
        if v_limit.month <> v_month then
          v_limit.month := v_month;
          v_limit.month_charged := key_charged_since(v_limit.id, v_month);
        end if;
      else
        v_limit := v_limits[v_place];
      end if;
      v_month_left := v_limit.monthly_budget - v_limit.month_charged;
      v_day_left := v_limit.daily_budget - v_limit.day_charged;
      v_key_taken := v_limit.held + v_limit.credit_lent;
      v_key_lent := v_limit.requests_lent > 0 or v_limit.tokens_lent > 0 or v_limit.credit_lent > 0;
    end if;

    if x.settles then
      v_gone := v_gone + 1;
      v_need := x.held_input::bigint + x.held_output;
      if x.stop is null then
        outcome := 'released';
        cost := 0;
      else
        outcome := 'settled';
        charged_input := v_input;
        charged_output := x.output;
        v_uncharged_output := 0;
        if v_cost > x.held or v_input + x.output > v_need or x.output > x.held_output then
          select c.input, c.output into charged_input, charged_output
            from chargeable(x.input, x.output, x.cached, x.cache_write, x.held_input, x.held_output, x.input_price,
              x.output_price, x.cached_price, x.cache_write_price,
              x.held + greatest(0, least(v_credit - v_held, v_month_left - v_key_taken, v_day_left - v_key_taken)),
              v_need + least(token_level,
                case when v_limit.tokens_per_minute is not null then v_limit.token_level end) / c_unit) c;
          v_uncharged_output := x.output - charged_output;
          x.output := charged_output;
          x.cached := greatest(0, charged_input - x.input - x.cache_write);
          x.cache_write := greatest(0, least(x.cache_write, charged_input - x.input));
          x.input := least(x.input, charged_input);
          v_cost := tokens_cost(x.input, x.output, x.cached, x.cache_write, x.input_price, x.output_price,
            x.cached_price, x.cache_write_price);
          cost := v_cost;
        end if;
        v_need := v_need - charged_input - charged_output;
        v_charge := v_charge + v_cost;
        v_credit := v_credit - v_cost;
        if v_place is not null then
          v_limit.day_charged := v_limit.day_charged + v_cost;
          v_limit.month_charged := v_limit.month_charged + v_cost;
        end if;
        v_charges := v_charges || row(x.hold, x.account, x.key, x.person, x.model, x.client, x.input, x.output,
          x.input_price, x.output_price, v_cost, x.stop, x.source, v_input - charged_input, v_uncharged_output, x.milliseconds,
          x.cached, x.cache_write, x.cached_price, x.cache_write_price, x.tags)::timed_charge;
        v_tagged := v_tagged or x.tags is not null;
      end if;
      v_hold := v_hold - x.held;
      v_held := v_held - x.held;
      token_level := greatest(0, least(v_token_room, token_level + v_need * c_unit));
      if v_place is not null then
        v_limit.held := v_limit.held - x.held;
        if v_limit.tokens_per_minute is not null then
          v_limit.token_level := greatest(0, least(greatest(0, v_limit.tokens_per_minute - v_limit.tokens_lent) * c_unit,
            v_limit.token_level + v_need * c_unit));
        end if;
      end if;
      if x.idem is null then
        null;
      elsif x.body is null then
        delete from idempotency where account_id = x.account and key = x.idem and hold_id = x.hold;
      else
        update idempotency set headers = x.headers, body = x.body
          where account_id = x.account and key = x.idem and hold_id = x.hold;
      end if;

    else
      if x.earlier and x.least_output is not null then
        select hold.max_output_tokens into x.output from hold where hold.id = x.hold;
      elsif x.least_output is not null then
        v_cost := v_cost - x.output::numeric * x.output_price;
        x.output := greatest(x.least_output, least(x.output,
          least(token_level, case when v_limit.tokens_per_minute is not null then v_limit.token_level end) / c_unit - x.input,
          div(least(v_credit - v_held, v_month_left - v_key_taken, v_day_left - v_key_taken) - v_cost,
            nullif(x.output_price, 0))));
        v_cost := v_cost + x.output::numeric * x.output_price;
        cost := v_cost;
      end if;
      v_need := (x.input::bigint + x.output) * c_unit;
      i := null;
      if x.idem is not null then
        select * into i from idempotency
          where account_id = x.account and key = x.idem and created_at > v_now - interval '24 hours';
      end if;
      outcome := case
        when x.earlier then 'admitted'
        when x.status is distinct from 'open' then 'no_billing_account'
        when i.request_hash <> x.hash then 'mismatch'
        when i.body is not null then 'replay'
        when i.hold_id is not null then 'in_progress'
        else coalesce(refusal(x.requests * c_unit, v_need, v_cost, v_token_most, v_credit, v_held, request_level, token_level,
          v_limit.tokens_per_minute * c_unit, v_month_left, v_day_left, v_key_taken,
          case when v_limit.requests_per_minute is not null then v_limit.request_level end,
          case when v_limit.tokens_per_minute is not null then v_limit.token_level end), 'taken')
      end;
      if x.least_output is not null and outcome in ('taken', 'admitted') then
        charged_output := x.output;
      end if;
      if outcome = 'taken' then
        outcome := 'admitted';
        request_level := request_level - x.requests * c_unit;
        token_level := token_level - v_need;
        if v_limit.requests_per_minute is not null then
          v_limit.request_level := v_limit.request_level - x.requests * c_unit;
        end if;
        if v_limit.tokens_per_minute is not null then
          v_limit.token_level := v_limit.token_level - v_need;
        end if;
        if x.model is not null then
          v_hold := v_hold + v_cost;
          v_held := v_held + v_cost;
          if v_place is not null then
            v_limit.held := v_limit.held + v_cost;
          end if;
          v_holds := v_holds || row(x.hold, x.account, x.key, x.person, p_instance, x.model, x.client, x.input, x.output,
            x.input_price, x.output_price, v_cost, x.idem, v_now, x.cached_price, x.cache_write_price)::hold;
        end if;
        if x.idem is not null then
          insert into idempotency (account_id, key, request_hash, hold_id, created_at)
            values (x.account, x.idem, x.hash, x.hold, v_now)
          on conflict (account_id, key) do update set request_hash = excluded.request_hash,
            hold_id = excluded.hold_id, created_at = excluded.created_at, headers = null, body = null;
        end if;
      elsif outcome = 'replay' then
        original := i.hold_id;
        headers := i.headers;
        body := i.body;
      else
        wait_us := refusal_wait(outcome, v_now, x.requests * c_unit, v_need, v_cost, request_level, token_level,
          requests_per_minute, tokens_per_minute, v_limit.request_level, v_limit.token_level, v_limit.requests_per_minute,
          v_limit.tokens_per_minute, least(v_limit.monthly_budget, v_limit.daily_budget));
      end if;
      if v_account_lent and outcome in ('credit_held', 'requests', 'tokens') then
        update account set recalled_at = v_now where account.id = x.account;
      elsif v_key_lent and outcome in ('key_held', 'key_requests', 'key_tokens') then
        v_limit.recalled_at := v_now;
      end if;
    end if;
    -- What the outcome was decided by.
    lent := case when outcome in ('key_held', 'key_requests', 'key_tokens') then v_key_lent else v_account_lent end;
    of_limit := v_limit.id;
    key_request_level := v_limit.request_level;
    key_token_level := v_limit.token_level;
    key_requests_per_minute := v_limit.requests_per_minute;
    key_tokens_per_minute := v_limit.tokens_per_minute;
    if v_place is not null then
      v_limits[v_place] := v_limit;
    end if;
    return next;
  end loop;
  if v_request_most is not null then
    v_accounts := v_accounts
      || row(v_account, v_charge, v_hold, v_month_before, request_level, token_level)::account_change;
  end if;

  if v_gone < jsonb_array_length(p_settle) then
    -- Settled by an earlier call whose answer was lost. Without a bound on the time, since the clock may have moved.
    return query
    select l.request_id, l.account_id, 'settled', b.request_level, b.token_level, b.requests_per_minute,
      b.tokens_per_minute, false, null::bigint, l.cost,
      l.input_tokens + l.cached_tokens + l.cache_write_tokens, l.output_tokens, null::uuid, null::jsonb, null::text,
      null::uuid, null::bigint, null::bigint, null::per_minute, null::per_minute
    from jsonb_array_elements(p_settle) s
    join ledger l on l.request_id = (s ->> 'hold')::uuid
    join account b on b.id = l.account_id;
  end if;
  if v_limit_ids <> '{}' then
    update key_limit set held = t.held, day = t.day, day_charged = t.day_charged, month = t.month,
      month_charged = t.month_charged, request_level = t.request_level, token_level = t.token_level, level_at = t.level_at,
      recalled_at = t.recalled_at
    from unnest(v_limits) t where key_limit.id = t.id;
  end if;
  if v_tagged then
    perform count_tags(v_day, v_charges);
  end if;
  with charged as (
    insert into ledger (at, request_id, account_id, key_id, person_id, model, client_id, input_tokens, output_tokens,
        input_price, output_price, cost, stop_reason, usage_source, uncharged_input, uncharged_output, milliseconds,
        cached_tokens, cache_write_tokens, cached_price, cache_write_price, tags)
      select v_now, c.id, c.account, c.key, c.person, c.model, c.client, c.input, c.output, c.input_price,
        c.output_price, c.cost, c.stop, c.source, c.uncharged_input, c.uncharged_output, c.milliseconds,
        coalesce(c.cached, 0), coalesce(c.cache_write, 0), c.cached_price, c.cache_write_price, c.tags
      from unnest(v_charges) c
  ), counted as (
    insert into usage_day as u
        (day, account_id, key_id, person_id, model, client_id, requests, input_tokens, output_tokens, cached_tokens,
        cache_write_tokens, cost)
      select (v_now at time zone 'UTC')::date, c.account, c.key, c.person, c.model, c.client, count(*), sum(c.input),
        sum(c.output), sum(coalesce(c.cached, 0)), sum(coalesce(c.cache_write, 0)), sum(c.cost)
      from unnest(v_charges) c group by c.account, c.key, c.person, c.model, c.client
    on conflict (account_id, day, key_id, person_id, model, client_id) do update set
      requests = u.requests + excluded.requests, input_tokens = u.input_tokens + excluded.input_tokens,
      output_tokens = u.output_tokens + excluded.output_tokens, cached_tokens = u.cached_tokens + excluded.cached_tokens,
      cache_write_tokens = u.cache_write_tokens + excluded.cache_write_tokens, cost = u.cost + excluded.cost
  ), holding as (
    insert into hold (id, account_id, key_id, person_id, instance_id, model, client_id, input_tokens, max_output_tokens,
        input_price, output_price, cost, idempotency_key, created_at, cached_price, cache_write_price)
      select h.id, h.account_id, h.key_id, h.person_id, h.instance_id, h.model, h.client_id, h.input_tokens,
        h.max_output_tokens, h.input_price, h.output_price, h.cost, h.idempotency_key, h.created_at,
        h.cached_price, h.cache_write_price
      from unnest(v_holds) h
  )
  update account set charged = account.charged + t.charged, held = account.held + t.held,
    month = v_month, month_charged = t.month_before + t.charged, request_level = t.request_level,
    token_level = t.token_level, level_at = v_now
  from unnest(v_accounts) t where account.id = t.id;
end $$;
