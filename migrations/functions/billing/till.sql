-- Settles finished requests, then admits new ones, in one transaction. An admission takes a hold of what it can cost at most from the credit,
-- the budgets, and the limits of account and key; a settlement replaces the hold by its charge. A repeated batch returns what it returned
-- before. Output beyond the hold goes uncharged even if the reply as a whole costs less than was held. An admission with "least" gets as
-- much of its output as the limits and the credit have room for, and at least that many tokens; its row has that output as charged_output.
-- A settlement with "terms" has its own prices, and "fixed" of an admission is what it can cost besides its tokens: both only if the
-- price of the model has rules.
-- A request in the background takes nothing from the buckets, and leaves half of the credit and of the budgets that are free to others. Its
-- idempotency key says so: callers can send none with a space.
do $$
begin
  -- Those of versions 0.2.0 and 1.0.0 return fewer columns.
  if exists (select from pg_proc where proname = 'till' and pronamespace = current_schema()::regnamespace and not 'of_budget' = any (proargnames)) then
    drop function till;
  end if;
end $$;
create or replace function till(p_instance uuid, p_batch bigint, p_settle jsonb, p_admit jsonb, p_now timestamptz default null)
returns table (id uuid, of_account uuid, outcome text, request_level bigint, token_level bigint,
               requests_per_minute per_minute, tokens_per_minute per_minute, lent boolean, wait_us bigint, cost amount,
               charged_input integer, charged_output integer, original uuid, headers jsonb, body text, of_limit uuid,
               key_request_level bigint, key_token_level bigint, key_requests_per_minute per_minute,
               key_tokens_per_minute per_minute, of_budget uuid)
language plpgsql
-- Its tables are empty one second and full of dead rows the next: the plan must not depend on that.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
set search_path from current
as $$
#variable_conflict use_column
declare
  c_unit constant bigint := 60000000; -- a request or token, in the unit of levels
  v_now timestamptz;
  v_month date;
  v_item record;
  v_holds_found integer := 0;
  -- What this call writes once all is decided.
  v_charges timed_charge[] := '{}';
  v_terms jsonb; -- of those charges that have any
  v_holds hold[] := '{}';
  v_accounts account_change[] := '{}';
  v_limits key_limit[] := '{}'; -- as they are after the items so far
  v_limit_ids uuid[] := '{}';
  v_moved_limits uuid[] := '{}'; -- those from whose buckets an item has taken, or to which it has given back
  -- The account of the items at hand.
  v_account uuid;
  v_account_exists boolean := false;
  v_account_lent boolean; -- whether an instance has an allowance of it
  v_account_moved boolean; -- as of v_moved_limits
  v_token_capacity bigint; -- less what is lent
  v_month_charged numeric; -- before this call
  v_credit numeric; -- without what is held
  v_held numeric;
  v_charge_sum numeric; -- of the items so far
  v_hold_change numeric;
  -- The limits of the item's key; null without any.
  v_limit key_limit;
  v_limit_index integer;
  v_key_lent boolean;
  v_key_held numeric; -- of the budgets: held or lent
  v_month_left numeric; -- without what is held
  v_day_left numeric;
  v_key_request_level bigint; -- null without such a limit
  v_key_token_level bigint;
  -- The budgets that several keys or a tag share, as they are after the items so far.
  v_budgets budget[] := '{}';
  v_budget_ids uuid[] := '{}';
  v_budget budget;
  v_budget_index integer;
  v_own record;
  v_holding integer[]; -- those in which the item counts as held, and as charged
  v_spending integer[];
  v_budget_left numeric; -- of the tightest: without what is held; null without any
  v_budget_free numeric;
  v_budget_lent boolean;
  -- The item.
  v_cost numeric;
  v_input bigint; -- of all three kinds
  v_uncharged_output integer;
  v_fixed numeric; -- what it costs besides its tokens
  v_long_writes integer; -- of the tokens written to a cache, those that cost v_more each on top of their price
  v_more bigint;
  v_tokens bigint; -- in the unit of levels: those taken, or given back
  v_requests bigint;
  v_unavailable numeric; -- of the credit: what is held, and for a request in the background half of the rest
  v_key_unavailable numeric; -- of the budgets of the key
  v_budget_available numeric; -- of the shared budgets
  v_kept idempotency; -- what an earlier request with the same key left
begin
  perform note_batch(p_instance, p_batch);

  -- Locks the accounts in id order. Processes each account's settlements, then its admissions, in the order given. The
  -- loop decides in memory and writes only idempotency keys and tags; what follows it writes the rest.
  for v_item in
    with ended as (
      delete from hold using rows from (jsonb_to_recordset(p_settle) as (
        hold uuid, input integer, output integer, cached integer, cache_write integer, stop text, source text,
        milliseconds integer, tags jsonb, headers jsonb, body text, terms jsonb))
        with ordinality as s(hold, input, output, cached, cache_write, stop, source, milliseconds, tags, headers, body, terms, n)
      where hold.id = s.hold
      returning hold.*, s.input, s.output, coalesce(s.cached, 0) as cached,
        coalesce(s.cache_write, 0) as cache_write, s.stop, s.source, s.milliseconds, s.tags, s.headers, s.body, s.terms, s.n
    ), item as (
      select true as settles, n, ended.id as hold, account_id as account, key_id as key, person_id as person, model,
        client_id as client, input_tokens as held_input, max_output_tokens as held_output, input, output, cached,
        cache_write, input_price, output_price, cached_price, cache_write_price, cost as held,
        idempotency_key, null as hash, 0 as requests, false as admitted_before, stop, source, milliseconds, tags, headers,
        body, null as least_output, null as held_tags, null as fixed, terms
      from ended
      union all
      select false, n, hold, account, key, person, model, client, null, null, input, output, 0, 0, input_price,
        output_price, cached_price, cache_write_price, null, idempotency_key, hash, requests,
        -- By an earlier call whose answer was lost.
        case when again then exists (select from hold where hold.id = s.hold)
          and not exists (select from jsonb_array_elements(p_settle) e where (e ->> 'hold')::uuid = s.hold) end,
        null, null, null, null, null, null, least_output, tags, fixed, null
      from rows from (jsonb_to_recordset(p_admit) as (
        hold uuid, account uuid, key uuid, person uuid, model text, client uuid, input integer, output integer,
        input_price bigint, output_price bigint, cached_price bigint, cache_write_price bigint, idem text, hash text, requests integer,
        again boolean, least integer, tags jsonb, fixed numeric)) with ordinality as s(hold, account, key, person, model, client, input,
        output, input_price, output_price, cached_price, cache_write_price, idempotency_key, hash, requests, again, least_output, tags,
        fixed, n)
    ), locked as (
      select account.* from account where account.id in (select account from item) order by account.id for no key update
    )
    select item.*, coalesce(item.idempotency_key like 'background %', false) as background, locked.id is not null as account_exists,
      locked.status, locked.limits_keys, locked.has_budgets, locked.requests_per_minute,
      locked.tokens_per_minute, locked.monthly_limit, locked.month, locked.month_charged,
      locked.credited - locked.charged as balance, locked.held + locked.credit_lent as held_before, locked.credit_lent,
      locked.requests_lent, locked.tokens_lent, locked.request_level, locked.token_level, locked.level_at
    from item left join locked on locked.id = item.account
    order by item.account, settles desc, n
  loop
    -- Not before the accounts are locked.
    if v_now is null then
      v_now := coalesce(p_now, clock_timestamp());
      v_month := date_trunc('month', v_now at time zone 'UTC')::date;
    end if;

    if v_account is distinct from v_item.account then
      if v_account_exists then
        v_accounts := v_accounts
          || row(v_account, v_charge_sum, v_hold_change, v_month_charged, case when v_account_moved then request_level end,
            case when v_account_moved then token_level end)::account_change;
      end if;
      v_account := v_item.account;
      v_account_exists := v_item.account_exists;
      v_account_lent := v_item.requests_lent > 0 or v_item.tokens_lent > 0 or v_item.credit_lent > 0;
      of_account := v_item.account;
      requests_per_minute := v_item.requests_per_minute;
      tokens_per_minute := v_item.tokens_per_minute;
      v_token_capacity := greatest(0, v_item.tokens_per_minute * c_unit - v_item.tokens_lent);
      request_level := refilled(v_item.request_level, v_item.level_at, v_now, v_item.requests_per_minute, v_item.requests_lent);
      token_level := refilled(v_item.token_level, v_item.level_at, v_now, v_item.tokens_per_minute, v_item.tokens_lent);
      v_month_charged := v_item.month_charged;
      if v_item.month <> v_month then
        v_month_charged := charged_since(v_item.account, v_month);
      end if;
      v_credit := coalesce(v_item.monthly_limit - v_month_charged, v_item.balance);
      v_held := v_item.held_before;
      v_charge_sum := 0;
      v_hold_change := 0;
      v_account_moved := false;
    end if;
    v_account_moved := v_account_moved or not v_item.background;

    v_limit := null;
    v_limit_index := null;
    if v_item.limits_keys and v_item.key is not null then
      -- A statement of its own, so that it reads what was committed before the account was locked.
      select key_limit.* into v_limit from api_key join key_limit on key_limit.id = api_key.limit_id where api_key.id = v_item.key;
    end if;
    if v_limit.id is not null then
      v_limit_index := array_position(v_limit_ids, v_limit.id);
      if v_limit_index is null then
        v_limit := refilled_limit(v_limit, v_now);
        v_limit_ids := array_append(v_limit_ids, v_limit.id);
        v_limit_index := cardinality(v_limit_ids);
      else
        v_limit := v_limits[v_limit_index];
      end if;
    end if;
    if v_limit_index is not null and not v_item.background then
      v_moved_limits := array_append(v_moved_limits, v_limit.id);
    end if;
    v_key_lent := coalesce(v_limit.requests_lent > 0 or v_limit.tokens_lent > 0 or v_limit.credit_lent > 0, false);
    v_key_held := coalesce(v_limit.held + v_limit.credit_lent, 0);
    v_month_left := v_limit.monthly_budget - v_limit.month_charged;
    v_day_left := v_limit.daily_budget - v_limit.day_charged;
    v_key_request_level := case when v_limit.requests_per_minute is not null then v_limit.request_level end;
    v_key_token_level := case when v_limit.tokens_per_minute is not null then v_limit.token_level end;

    v_budget_left := null;
    v_budget_free := null;
    v_holding := '{}';
    v_spending := '{}';
    if v_item.has_budgets then
      if v_item.settles then
        delete from tagged_hold where hold_id = v_item.hold returning tagged_hold.tags into v_item.held_tags;
      end if;
      for v_own in
        select each.budget, bool_or(each.holds) as holds, bool_or(not each.holds) as spends from (
          select budgets_of(v_item.account, v_item.key, v_item.held_tags) as budget, true as holds
          union all select budgets_of(v_item.account, v_item.key, v_item.tags), false where v_item.settles) each group by each.budget
      loop
        v_budget_index := array_position(v_budget_ids, v_own.budget);
        if v_budget_index is null then
          select budget.* into v_budget from budget where budget.id = v_own.budget;
          v_budgets := v_budgets || current_budget(v_budget, v_now);
          v_budget_ids := array_append(v_budget_ids, v_own.budget);
          v_budget_index := cardinality(v_budget_ids);
        end if;
        if v_own.holds then v_holding := array_append(v_holding, v_budget_index); end if;
        if v_own.spends then v_spending := array_append(v_spending, v_budget_index); end if;
        v_budget := v_budgets[v_budget_index];
        if v_budget.hard then
          v_budget_left := least(v_budget_left, budget_limit(v_budget, v_now) - v_budget.charged);
          v_budget_free := least(v_budget_free, budget_limit(v_budget, v_now) - v_budget.charged - v_budget.held - v_budget.credit_lent);
        end if;
      end loop;
    end if;

    id := v_item.hold;
    wait_us := null;
    charged_input := null;
    charged_output := null;
    original := null;
    headers := null;
    body := null;
    of_budget := null;
    v_budget_lent := false;

    if v_item.settles then
      v_holds_found := v_holds_found + 1;
      v_tokens := v_item.held_input::bigint + v_item.held_output;
      if v_item.stop is null then
        outcome := 'released';
        cost := 0;
      else
        outcome := 'settled';
        v_input := v_item.input::bigint + v_item.cached + v_item.cache_write;
        if v_item.terms is not null then
          v_item.input_price := (v_item.terms -> 'prices' ->> 0)::bigint;
          v_item.output_price := (v_item.terms -> 'prices' ->> 1)::bigint;
          v_item.cached_price := (v_item.terms -> 'prices' ->> 2)::bigint;
          v_item.cache_write_price := (v_item.terms -> 'prices' ->> 3)::bigint;
        end if;
        v_cost := tokens_cost(v_item.input, v_item.output, v_item.cached, v_item.cache_write, v_item.input_price, v_item.output_price,
          v_item.cached_price, v_item.cache_write_price);
        if v_item.terms is not null then
          v_cost := v_cost + (v_item.terms ->> 'cost')::numeric;
        end if;
        charged_input := v_input;
        charged_output := v_item.output;
        v_uncharged_output := 0;
        if v_cost > v_item.held or v_input + v_item.output > v_tokens or v_item.output > v_item.held_output then
          v_long_writes := coalesce(v_item.terms -> 'cache_write_1h' ->> 0, '0')::integer;
          v_more := coalesce(v_item.terms -> 'cache_write_1h' ->> 1, '0')::bigint;
          v_fixed := coalesce((v_item.terms ->> 'cost')::numeric, 0) - v_long_writes::numeric * v_more;
          select c.input, c.output into charged_input, charged_output
            from chargeable(v_item.input, v_item.output, v_item.cached, v_item.cache_write, v_item.held_input, v_item.held_output,
              v_item.input_price, v_item.output_price, v_item.cached_price,
              case v_more when 0 then v_item.cache_write_price else coalesce(v_item.cache_write_price, v_item.input_price) + v_more end,
              v_item.held - v_fixed
                + greatest(0, least(v_credit - v_held, v_month_left - v_key_held, v_day_left - v_key_held, v_budget_free)),
              v_tokens + least(token_level, v_key_token_level) / c_unit) c;
          v_uncharged_output := v_item.output - charged_output;
          v_item.output := charged_output;
          v_item.cached := greatest(0, charged_input - v_item.input - v_item.cache_write);
          v_item.cache_write := greatest(0, least(v_item.cache_write, charged_input - v_item.input));
          v_item.input := least(v_item.input, charged_input);
          v_cost := tokens_cost(v_item.input, v_item.output, v_item.cached, v_item.cache_write, v_item.input_price,
            v_item.output_price, v_item.cached_price, v_item.cache_write_price);
          if v_item.terms is not null then
            v_long_writes := least(v_long_writes, v_item.cache_write);
            v_item.terms := v_item.terms || jsonb_build_object('cost', v_fixed + v_long_writes::numeric * v_more)
              || case v_more when 0 then '{}' else jsonb_build_object('cache_write_1h', jsonb_build_array(v_long_writes, v_more)) end;
            v_cost := v_cost + (v_item.terms ->> 'cost')::numeric;
          end if;
        end if;
        if v_item.terms is not null then
          v_terms := coalesce(v_terms, '{}') || jsonb_build_object(v_item.hold, v_item.terms - 'prices');
        end if;
        cost := v_cost;
        v_tokens := v_tokens - charged_input - charged_output;
        v_charge_sum := v_charge_sum + v_cost;
        v_credit := v_credit - v_cost;
        v_limit.day_charged := v_limit.day_charged + v_cost;
        v_limit.month_charged := v_limit.month_charged + v_cost;
        foreach v_budget_index in array v_spending loop
          v_budgets[v_budget_index].charged := v_budgets[v_budget_index].charged + v_cost;
          v_budgets[v_budget_index].last_charged_at := greatest(v_budgets[v_budget_index].last_charged_at, v_now);
        end loop;
        v_charges := v_charges || row(v_item.hold, v_item.account, v_item.key, v_item.person, v_item.model, v_item.client,
          v_item.input, v_item.output, v_item.input_price, v_item.output_price, v_cost, v_item.stop, v_item.source,
          v_input - charged_input, v_uncharged_output, v_item.milliseconds, v_item.cached, v_item.cache_write,
          v_item.cached_price, v_item.cache_write_price, v_item.tags)::timed_charge;
      end if;
      v_hold_change := v_hold_change - v_item.held;
      v_held := v_held - v_item.held;
      v_limit.held := v_limit.held - v_item.held;
      foreach v_budget_index in array v_holding loop
        v_budgets[v_budget_index].held := v_budgets[v_budget_index].held - v_item.held;
      end loop;
      v_tokens := case when v_item.background then 0 else v_tokens * c_unit end;
      token_level := greatest(0, least(v_token_capacity, token_level + v_tokens));
      if v_limit.tokens_per_minute is not null then
        v_limit.token_level := greatest(0, least(greatest(0, v_limit.tokens_per_minute - v_limit.tokens_lent) * c_unit,
          v_limit.token_level + v_tokens));
      end if;
      if v_item.idempotency_key is null then
        null;
      elsif v_item.body is null then
        delete from idempotency where account_id = v_item.account and key = v_item.idempotency_key and hold_id = v_item.hold;
      else
        update idempotency set headers = v_item.headers, body = v_item.body
          where account_id = v_item.account and key = v_item.idempotency_key and hold_id = v_item.hold;
      end if;

    else
      v_unavailable := v_held;
      v_key_unavailable := v_key_held;
      v_budget_available := v_budget_free;
      if v_item.background then
        v_budget_available := v_budget_free / 2;
        v_unavailable := (v_held + greatest(v_held, v_credit)) / 2;
        v_key_unavailable := (v_key_held + greatest(v_key_held, least(v_month_left, v_day_left))) / 2;
      end if;
      v_cost := v_item.input::numeric * greatest(v_item.input_price, v_item.cached_price, v_item.cache_write_price)
        + coalesce(v_item.fixed, 0);
      if v_item.least_output is not null then
        if v_item.admitted_before then
          select hold.max_output_tokens into v_item.output from hold where hold.id = v_item.hold;
        else
          v_item.output := greatest(v_item.least_output, least(v_item.output,
            case when v_item.background then least(tokens_per_minute, v_limit.tokens_per_minute)
              else least(token_level, v_key_token_level) / c_unit end - v_item.input,
            div(least(v_credit - v_unavailable, v_month_left - v_key_unavailable, v_day_left - v_key_unavailable, v_budget_available) - v_cost,
              nullif(v_item.output_price, 0))));
        end if;
      end if;
      v_cost := v_cost + v_item.output::numeric * v_item.output_price;
      cost := v_cost;
      v_tokens := (v_item.input::bigint + v_item.output) * c_unit;
      v_requests := case when v_item.background then 0 else v_item.requests * c_unit end;
      v_kept := null;
      if v_item.idempotency_key is not null then
        select * into v_kept from idempotency
          where account_id = v_item.account and key = v_item.idempotency_key and created_at > v_now - interval '24 hours';
      end if;
      outcome := case
        when v_item.admitted_before then 'admitted'
        else coalesce(early_outcome(v_item.status, v_kept, v_item.hash),
          refusal(v_requests, v_tokens, v_cost, tokens_per_minute * c_unit, v_credit, v_unavailable,
          case when not v_item.background then request_level end, case when not v_item.background then token_level end,
          v_limit.tokens_per_minute * c_unit, v_month_left, v_day_left, v_key_unavailable,
          case when not v_item.background then v_key_request_level end, case when not v_item.background then v_key_token_level end,
          v_budget_left, v_budget_available), 'taken')
      end;
      if v_item.least_output is not null and outcome in ('taken', 'admitted') then
        charged_output := v_item.output;
      end if;
      if outcome = 'taken' then
        outcome := 'admitted';
        if v_item.background then
          v_tokens := 0;
        end if;
        request_level := request_level - v_requests;
        token_level := token_level - v_tokens;
        if v_limit.requests_per_minute is not null then
          v_limit.request_level := v_limit.request_level - v_requests;
        end if;
        if v_limit.tokens_per_minute is not null then
          v_limit.token_level := v_limit.token_level - v_tokens;
        end if;
        if v_item.model is not null then
          v_hold_change := v_hold_change + v_cost;
          v_held := v_held + v_cost;
          v_limit.held := v_limit.held + v_cost;
          foreach v_budget_index in array v_holding loop
            v_budgets[v_budget_index].held := v_budgets[v_budget_index].held + v_cost;
          end loop;
          if v_item.has_budgets and v_item.held_tags is not null then
            insert into tagged_hold (hold_id, account_id, tags) values (v_item.hold, v_item.account, v_item.held_tags);
          end if;
          v_holds := v_holds || row(v_item.hold, v_item.account, v_item.key, v_item.person, p_instance, v_item.model, v_item.client,
            v_item.input, v_item.output, v_item.input_price, v_item.output_price, v_cost, v_item.idempotency_key, v_now,
            v_item.cached_price, v_item.cache_write_price)::hold;
        end if;
        if v_item.idempotency_key is not null then
          insert into idempotency (account_id, key, request_hash, hold_id, created_at)
            values (v_item.account, v_item.idempotency_key, v_item.hash, v_item.hold, v_now)
          on conflict (account_id, key) do update set request_hash = excluded.request_hash,
            hold_id = excluded.hold_id, created_at = excluded.created_at, headers = null, body = null;
        end if;
      elsif outcome = 'replay' then
        original := v_kept.hold_id;
        headers := v_kept.headers;
        body := v_kept.body;
      else
        wait_us := refusal_wait(outcome, v_now, v_requests, v_tokens, v_cost, request_level, token_level,
          requests_per_minute, tokens_per_minute, v_limit.request_level, v_limit.token_level, v_limit.requests_per_minute,
          v_limit.tokens_per_minute, least(v_limit.monthly_budget, v_limit.daily_budget));
      end if;
      if outcome in ('budget', 'budget_held') then
        select b.id, b.wait_us, b.lent into of_budget, wait_us, v_budget_lent
          from refusing_budget(array(select v_budgets[place] from unnest(v_holding) place), v_cost, v_now) b;
      end if;
      if v_item.background then
        null;
      elsif v_account_lent and outcome in ('credit_held', 'requests', 'tokens') then
        update account set recalled_at = v_now where account.id = v_item.account;
      elsif v_key_lent and outcome in ('key_held', 'key_requests', 'key_tokens') then
        v_limit.recalled_at := v_now;
      elsif v_budget_lent then
        v_budgets[array_position(v_budget_ids, of_budget)].recalled_at := v_now;
      end if;
    end if;

    -- What the outcome was decided by.
    lent := not v_item.background and case when outcome in ('key_held', 'key_requests', 'key_tokens') then v_key_lent
      when outcome = 'budget_held' then v_budget_lent else v_account_lent end;
    of_limit := v_limit.id;
    key_request_level := v_limit.request_level;
    key_token_level := v_limit.token_level;
    key_requests_per_minute := v_limit.requests_per_minute;
    key_tokens_per_minute := v_limit.tokens_per_minute;
    if v_limit_index is not null then
      v_limits[v_limit_index] := v_limit;
    end if;
    return next;
  end loop;
  if v_account_exists then
    v_accounts := v_accounts
      || row(v_account, v_charge_sum, v_hold_change, v_month_charged, case when v_account_moved then request_level end,
        case when v_account_moved then token_level end)::account_change;
  end if;

  if v_holds_found < jsonb_array_length(p_settle) then
    return query
      select s.id, s.of_account, 'settled', s.request_level, s.token_level, s.requests_per_minute, s.tokens_per_minute, false,
        null::bigint, s.cost, s.charged_input, s.charged_output, null::uuid, null::jsonb, null::text, null::uuid, null::bigint,
        null::bigint, null::per_minute, null::per_minute, null::uuid
      from settled_before(p_settle) s;
  end if;
  if cardinality(v_charges) > 0 then
    perform record_charges(v_now, v_charges, v_terms);
  end if;
  if cardinality(v_limits) > 0 then
    update key_limit set held = l.held, day = l.day, day_charged = l.day_charged, month = l.month,
      month_charged = l.month_charged, request_level = case when l.id = any (v_moved_limits) then l.request_level else key_limit.request_level end,
      token_level = case when l.id = any (v_moved_limits) then l.token_level else key_limit.token_level end,
      level_at = case when l.id = any (v_moved_limits) then l.level_at else key_limit.level_at end, recalled_at = l.recalled_at
    from unnest(v_limits) l where key_limit.id = l.id;
  end if;
  if cardinality(v_budgets) > 0 then
    update budget set held = b.held, charged = b.charged, began_at = b.began_at, ends_at = b.ends_at, recalled_at = b.recalled_at,
      last_charged_at = b.last_charged_at
    from unnest(v_budgets) b where budget.id = b.id;
  end if;
  with holding as (
    insert into hold (id, account_id, key_id, person_id, instance_id, model, client_id, input_tokens, max_output_tokens,
        input_price, output_price, cost, idempotency_key, created_at, cached_price, cache_write_price)
      select h.id, h.account_id, h.key_id, h.person_id, h.instance_id, h.model, h.client_id, h.input_tokens,
        h.max_output_tokens, h.input_price, h.output_price, h.cost, h.idempotency_key, h.created_at,
        h.cached_price, h.cache_write_price
      from unnest(v_holds) h
  )
  update account set charged = account.charged + a.charged, held = account.held + a.held,
    month = v_month, month_charged = a.month_before + a.charged, request_level = coalesce(a.request_level, account.request_level),
    token_level = coalesce(a.token_level, account.token_level),
    level_at = case when a.request_level is null then account.level_at else v_now end
  from unnest(v_accounts) a where account.id = a.id;
end $$;
